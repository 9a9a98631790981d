import { Type } from 'typebox';

import { defineAction } from '#actions/action_context.ts';
import { EXAMPLE_IDS as IDS } from '#actions/example_ids.ts';
import { IdText, nullable, STRICT } from '#actions/fields.ts';
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

const HEALTHY = { failures: 0, failingSince: null, lastFailure: null, heldUntil: null };

export const updatePlace = defineAction({
  name: 'update_place',
  consoleOnly: true,
  stepUp: true,
  summary:
    'Change a place, or switch it on or off. What is left out stays as it is; settings are given whole, with their secrets.',
  permission: 'organization:manage',
  effect: 'write',
  input: Type.Object(
    {
      placeId: IdText,
      name: Type.Optional(PlaceName),
      settings: Type.Optional(Settings),
      routes: Type.Optional(Routes),
      isOn: Type.Optional(Type.Boolean()),
    },
    STRICT,
  ),
  result: Type.Object({
    place: PlaceView,
    signingSecret: nullable(
      Type.String({ description: 'signing secret that was made for it, shown this once; null when none was made' }),
    ),
  }),
  conflict: 'another place has this name',
  example: {
    placeId: IDS.placeId,
    name: 'Operations at night',
    settings: { channel: 'C0123456789', token: 'xoxb-token', signingSecret: 'secret' },
    routes: [{ serviceId: null, teamId: IDS.teamId, atLeast: null }],
    isOn: true,
  },
  async prepare({ placeId, settings }, context) {
    if (settings === undefined) return null;
    const { kind } = await context.stores.places.get(context.caller.orgId, placeId);
    return await readSettings(kind, settings, context);
  },
  async handle({ placeId, name, routes, isOn }, context, read) {
    const { caller, stores, now, record, installation, baseUrl } = context;
    const before = await stores.places.lock(caller.orgId, placeId);
    if (routes !== undefined) await requireRoutes(routes, context);
    if (name !== undefined) await requireFreeName(name, before.id, context);
    const { places } = installation.ciphers;
    const sealed = read && {
      shown: shownSettings(before.kind, read.settings),
      sealed: sealSettings(places, read.settings),
      settingsRole: await roleOf(context),
    };
    await stores.places.save(
      before.id,
      {
        ...(name !== undefined && { name: name.trim() }),
        ...(routes !== undefined && { routes }),
        ...sealed,
        ...(isOn !== undefined && isOn !== before.isOn && { isOn }),
        // What was wrong may be right now.
        ...((sealed !== null || isOn === true) && HEALTHY),
      },
      now,
    );
    if (isOn === false) await stores.placeDeliveries.end(before.id, 'The place was switched off.', now);
    const after = await stores.places.get(caller.orgId, before.id);
    const replaced = read !== null && { settings: 'replaced' };
    record({ target: before.id, before: auditedPlace(before), after: { ...auditedPlace(after), ...replaced } });
    const waiting = (await stores.placeDeliveries.countWaiting(caller.orgId)).get(before.id) ?? 0;
    return { place: toPlaceView(after, waiting, baseUrl), signingSecret: read?.madeSecret ?? null };
  },
});
