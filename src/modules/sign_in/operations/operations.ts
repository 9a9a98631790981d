import { addSignInDomain, proveSignInDomain, removeSignInDomain } from '#modules/sign_in/operations/domains.ts';
import { beginProviderSignIn, completeProviderSignIn } from '#modules/sign_in/operations/provider_sign_in.ts';
import { endMemberSessions, listOrganizationSessions } from '#modules/sign_in/operations/member_sessions.ts';
import { getSignInSettings, setAddressLists } from '#modules/sign_in/operations/sign_in_settings.ts';
import { removeOpenidConnection, setOpenidConnection } from '#modules/sign_in/operations/openid_connection.ts';

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
