import { Type } from 'typebox';

import { defineAction } from '#actions/action_context.ts';
import { EXAMPLE_IDS as IDS } from '#actions/example_ids.ts';
import { IdText, nullable, STRICT } from '#actions/fields.ts';
import { AppError } from '#kernel/errors.ts';
import { PLACE_KINDS, PLACES_MAX } from '#modules/places/decide/place_kinds.ts';
import { beginChatLink, listChatAccounts, unlinkChatAccount } from '#modules/places/operations/chat_accounts.ts';
import { listPlaceDeliveries, redeliverToPlace, testPlace } from '#modules/places/operations/deliveries.ts';
import {
  PlaceName,
  readSettings,
  requireFreeName,
  requireRoutes,
  roleOf,
  Routes,
  Settings,
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

export const deletePlace = defineAction({
  name: 'delete_place',
  consoleOnly: true,
  stepUp: true,
  summary: 'Delete a place with its deliveries. Messages that were sent stay where they are.',
  permission: 'organization:manage',
  effect: 'delete',
  input: Type.Object({ placeId: IdText }, STRICT),
  result: Type.Object({ placeId: IdText, deleted: Type.Boolean() }),
  example: { placeId: IDS.placeId },
  async handle({ placeId }, { caller, stores, record }) {
    const place = await stores.places.lock(caller.orgId, placeId);
    await stores.places.delete(place.id);
    record({ target: place.id, before: auditedPlace(place), after: null });
    return { placeId: place.id, deleted: true };
  },
});

export const listPlaces = defineAction({
  name: 'list_places',
  consoleOnly: true,
  summary: 'List the places where incidents are announced, and how each fares.',
  permission: 'organization:view',
  effect: 'read',
  input: Type.Object({}, STRICT),
  result: Type.Object({ places: Type.Array(PlaceView) }),
  example: {},
  async handle(_input, { caller, stores, baseUrl }) {
    const places = await stores.places.list(caller.orgId);
    const waiting = await stores.placeDeliveries.countWaiting(caller.orgId);
    return { places: places.map((place) => toPlaceView(place, waiting.get(place.id) ?? 0, baseUrl)) };
  },
});

/** Operations of the console on places and linked chat accounts. */
export const PLACE_OPERATIONS = [
  listPlaces,
  createPlace,
  updatePlace,
  deletePlace,
  testPlace,
  listPlaceDeliveries,
  redeliverToPlace,
  beginChatLink,
  listChatAccounts,
  unlinkChatAccount,
] as const;
