import { Type } from 'typebox';

import { defineAction } from '#actions/action_context.ts';
import { EXAMPLE_IDS as IDS } from '#actions/example_ids.ts';
import { nullable, STRICT } from '#actions/fields.ts';
import { AppError } from '#kernel/errors.ts';
import { PLACE_KINDS, PLACES_MAX } from '#modules/places/decide/place_kinds.ts';
import {
  PlaceName,
  readSettings,
  requireFreeName,
  requireRoutes,
  Routes,
  Settings,
  roleOf,
} from '#modules/places/operations/place_fields.ts';
import { sealSettings, shownSettings } from '#modules/places/settings.ts';
import { auditedPlace, PlaceView, toPlaceView } from '#modules/places/view.ts';

export const createPlace = defineAction({
  name: 'create_place',
  consoleOnly: true,
  stepUp: true,
  summary: 'Add a place where incidents are announced, beside the people who are paged: a chat room or a webhook.',
  permission: 'organization:manage',
  effect: 'write',
  input: Type.Object(
    { kind: Type.Enum([...PLACE_KINDS]), name: PlaceName, settings: Settings, routes: Routes },
    STRICT,
  ),
  result: Type.Object({
    place: PlaceView,
    signingSecret: nullable(
      Type.String({ description: 'signing secret that was made for it, shown this once; null when none was made' }),
    ),
  }),
  conflict: 'another place has this name, or the organization has as many places as it may have',
  example: {
    kind: 'slack',
    name: 'Operations',
    settings: { channel: 'C0123456789', token: 'xoxb-token', signingSecret: 'secret' },
    routes: [{ serviceId: IDS.serviceId, teamId: null, atLeast: 'error' }],
  },
  async prepare({ kind, settings }, context) {
    return await readSettings(kind, settings, context);
  },
  async handle({ kind, name, routes }, context, { settings, madeSecret }) {
    const { caller, stores, now, record, installation, baseUrl } = context;
    const { places } = installation.ciphers;
    await requireRoutes(routes, context);
    await requireFreeName(name, null, context);
    if ((await stores.places.list(caller.orgId)).length >= PLACES_MAX) {
      throw new AppError('conflict', `an organization has at most ${PLACES_MAX} places; delete one first`);
    }
    const place = await stores.places.insert(
      {
        orgId: caller.orgId,
        kind,
        name: name.trim(),
        shown: shownSettings(kind, settings),
        sealed: sealSettings(places, settings),
        settingsRole: await roleOf(context),
        routes,
      },
      now,
    );
    record({ target: place.id, before: null, after: auditedPlace(place) });
    return { place: toPlaceView(place, 0, baseUrl), signingSecret: madeSecret };
  },
});
