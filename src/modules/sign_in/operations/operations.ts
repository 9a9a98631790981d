import { addSignInDomain } from '#modules/sign_in/operations/add_sign_in_domain.ts';
import { beginProviderSignIn } from '#modules/sign_in/operations/begin_provider_sign_in.ts';
import { completeProviderSignIn } from '#modules/sign_in/operations/complete_provider_sign_in.ts';
import { endMemberSessions } from '#modules/sign_in/operations/end_member_sessions.ts';
import { getSignInSettings } from '#modules/sign_in/operations/get_sign_in_settings.ts';
import { listOrganizationSessions } from '#modules/sign_in/operations/list_organization_sessions.ts';
import { proveSignInDomain } from '#modules/sign_in/operations/prove_sign_in_domain.ts';
import { removeOpenidConnection } from '#modules/sign_in/operations/remove_openid_connection.ts';
import { removeSignInDomain } from '#modules/sign_in/operations/remove_sign_in_domain.ts';
import { setAddressLists } from '#modules/sign_in/operations/set_address_lists.ts';
import { setOpenidConnection } from '#modules/sign_in/operations/set_openid_connection.ts';

/** Operations by which people sign in through the provider of an organization. */
export const PROVIDER_SIGN_IN = [beginProviderSignIn, completeProviderSignIn] as const;

/** Operations of the console on how people sign in to an organization. */
export const SIGN_IN_OPERATIONS = [
  getSignInSettings,
  setOpenidConnection,
  removeOpenidConnection,
  addSignInDomain,
  proveSignInDomain,
  removeSignInDomain,
  setAddressLists,
  listOrganizationSessions,
  endMemberSessions,
] as const;
