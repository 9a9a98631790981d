import {
  type AuthenticationResponseJSON,
  type PublicKeyCredentialCreationOptionsJSON,
  type PublicKeyCredentialRequestOptionsJSON,
  startAuthentication,
  startRegistration,
} from '@simplewebauthn/browser';
import { queryOptions } from '@tanstack/react-query';

import type { AccountResultOf } from '#console/api/actions.ts';
import { ApiError, ask } from '#console/api/http.ts';
import type { Session } from '#console/api/session.ts';

type Added = AccountResultOf<'add_passkey'>;

/** Proof of the second factor, sent in addition to the password; exactly one property is set. */
export interface SecondFactorProof {
  readonly code?: string;
  readonly recoveryCode?: string;
  readonly passkey?: AuthenticationResponseJSON;
}

export const secondFactorsQuery = queryOptions({
  queryKey: ['second-factors'],
  queryFn: ({ signal }) => ask<AccountResultOf<'get_second_factors'>>('me/second-factors', { signal }),
});

const post = <Result>(path: string, body: unknown = {}) => ask<Result>(path, { method: 'POST', body });

export const completeSignIn = (token: string, proof: SecondFactorProof) =>
  post<Session>('session/second-factor', { token, ...proof });

export const stepUp = (proof: SecondFactorProof) => post<AccountResultOf<'step_up'>>('me/step-up', proof);

/** Asks the browser for a passkey: for the sign-in with this token or, with null, for the person who is logged in. */
export async function requestPasskey(token: string | null): Promise<SecondFactorProof> {
  const optionsJSON =
    token === null
      ? await post<PublicKeyCredentialRequestOptionsJSON>('me/step-up/passkey-options')
      : await post<PublicKeyCredentialRequestOptionsJSON>('session/passkey-options', { token });
  return { passkey: await startAuthentication({ optionsJSON }).catch(explainRefusal) };
}

export async function addPasskey(name: string): Promise<Added> {
  const optionsJSON = await post<PublicKeyCredentialCreationOptionsJSON>('me/passkeys/options');
  const response = await startRegistration({ optionsJSON }).catch(explainRefusal);
  return await post<Added>('me/passkeys', { name, response });
}

/** Throws why the browser gave no passkey, in words for the person: they declined, or the device has one already. */
function explainRefusal(error: unknown): never {
  const { name = '' } = error instanceof Error ? error : {};
  const explained: Readonly<Record<string, string>> = {
    NotAllowedError: 'No passkey was used. Try again, and confirm it on your device.',
    InvalidStateError: 'This device has a passkey of yours already.',
  };
  const message = explained[name];
  throw message === undefined ? error : new ApiError({ status: 400, code: 'no_passkey', message });
}

export const removePasskey = (passkeyId: string) => post('me/passkeys/removal', { passkeyId });

export const beginApp = () => post<AccountResultOf<'begin_authenticator_app'>>('me/authenticator-app');
export const confirmApp = (code: string) => post<Added>('me/authenticator-app/confirmation', { code });
export const removeApp = () => ask('me/authenticator-app', { method: 'DELETE' });

export const replaceRecoveryCodes = () => post<AccountResultOf<'replace_recovery_codes'>>('me/recovery-codes');
