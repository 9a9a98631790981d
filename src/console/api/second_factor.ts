import {
  type AuthenticationResponseJSON,
  type PublicKeyCredentialCreationOptionsJSON,
  type PublicKeyCredentialRequestOptionsJSON,
  startAuthentication,
  startRegistration,
} from '@simplewebauthn/browser';
import { queryOptions } from '@tanstack/react-query';

import type { AccountResultOf } from '#console/api/actions.ts';
import { ask } from '#console/api/http.ts';
import type { Session } from '#console/api/session.ts';

type Added = AccountResultOf<'add_passkey'>;

/** One of them is shown beside the password. */
export interface Shown {
  readonly code?: string;
  readonly recoveryCode?: string;
  readonly passkey?: AuthenticationResponseJSON;
}

export const secondFactorsQuery = queryOptions({
  queryKey: ['second-factors'],
  queryFn: ({ signal }) => ask<AccountResultOf<'get_second_factors'>>('me/second-factors', { signal }),
});

const post = <Result>(path: string, body: unknown = {}) => ask<Result>(path, { method: 'POST', body });

export const completeSignIn = (token: string, shown: Shown) =>
  post<Session>('session/second-factor', { token, ...shown });

export const stepUp = (shown: Shown) => post<AccountResultOf<'step_up'>>('me/step-up', shown);

/** Asks the browser for a passkey: of a sign-in that waits, or of who is signed in. */
export async function showPasskey(token: string | null): Promise<Shown> {
  const optionsJSON =
    token === null
      ? await post<PublicKeyCredentialRequestOptionsJSON>('me/step-up/passkey-options')
      : await post<PublicKeyCredentialRequestOptionsJSON>('session/passkey-options', { token });
  return { passkey: await startAuthentication({ optionsJSON }) };
}

export async function addPasskey(name: string): Promise<Added> {
  const optionsJSON = await post<PublicKeyCredentialCreationOptionsJSON>('me/passkeys/options');
  const response = await startRegistration({ optionsJSON });
  return await post<Added>('me/passkeys', { name, response });
}

export const removePasskey = (passkeyId: string) => post('me/passkeys/removal', { passkeyId });

export const beginApp = () => post<AccountResultOf<'begin_authenticator_app'>>('me/authenticator-app');
export const confirmApp = (code: string) => post<Added>('me/authenticator-app/confirmation', { code });
export const removeApp = () => ask('me/authenticator-app', { method: 'DELETE' });

export const replaceRecoveryCodes = () => post<AccountResultOf<'replace_recovery_codes'>>('me/recovery-codes');
