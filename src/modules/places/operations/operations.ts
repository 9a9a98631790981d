import { beginChatLink } from '#modules/places/operations/begin_chat_link.ts';
import { createPlace } from '#modules/places/operations/create_place.ts';
import { deletePlace } from '#modules/places/operations/delete_place.ts';
import { listChatAccounts } from '#modules/places/operations/list_chat_accounts.ts';
import { listPlaceDeliveries } from '#modules/places/operations/list_place_deliveries.ts';
import { listPlaces } from '#modules/places/operations/list_places.ts';
import { redeliverToPlace } from '#modules/places/operations/redeliver_to_place.ts';
import { testPlace } from '#modules/places/operations/test_place.ts';
import { unlinkChatAccount } from '#modules/places/operations/unlink_chat_account.ts';
import { updatePlace } from '#modules/places/operations/update_place.ts';

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
