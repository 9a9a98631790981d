import type { AuthenticationResponseJSON, RegistrationResponseJSON } from '@simplewebauthn/server';

import { AppError } from '#kernel/errors.ts';
import type { Id } from '#kernel/ids.ts';
import type { PasskeyRow } from '#modules/accounts/store/second_factor_store.ts';

/** Loads the library when the first passkey is requested: most processes never need it. */
const library = () => import('@simplewebauthn/server');

/** The site that passkeys belong to: its host name, and the address of its pages. */
export interface RelyingParty {
  readonly id: string;
  readonly origin: string;
}

export function relyingPartyOf(baseUrl: string): RelyingParty {
  const { hostname, origin } = new URL(baseUrl);
  return { id: hostname, origin };
}

/**
 * Whether the relying party can have passkeys: browsers make them for host names only (WebAuthn §5.1.2), not for
 * addresses.
 */
export function hasPasskeys({ id }: RelyingParty): boolean {
  return !/^[\d.]+$|^\[/.test(id);
}

/** Returns what the browser needs to create a passkey, with the challenge that it must sign. */
export async function registrationOptions(
  party: RelyingParty,
  user: { readonly userId: Id<'user'>; readonly email: string; readonly name: string },
  present: readonly PasskeyRow[],
) {
  const { generateRegistrationOptions } = await library();
  return await generateRegistrationOptions({
    rpName: 'Tocsin',
    rpID: party.id,
    userID: new TextEncoder().encode(user.userId),
    userName: user.email,
    userDisplayName: user.name,
    excludeCredentials: present.map(({ id, transports }) => ({ id, transports: [...transports] })),
    authenticatorSelection: { residentKey: 'preferred', userVerification: 'preferred' },
  });
}

/** The passkey that a browser has made. Throws `invalid_input` when it does not answer the challenge. */
export async function verifyRegistration(
  party: RelyingParty,
  response: unknown,
  challenge: string,
): Promise<Pick<PasskeyRow, 'id' | 'publicKey' | 'counter' | 'transports'>> {
  const { verifyRegistrationResponse } = await library();
  const { registrationInfo } = await verifyRegistrationResponse({
    response: response as RegistrationResponseJSON,
    expectedChallenge: challenge,
    expectedOrigin: party.origin,
    expectedRPID: party.id,
    requireUserVerification: false,
  }).catch((error: unknown) => {
    throw new AppError('invalid_input', 'this passkey answered another request; try again', { cause: error });
  });
  if (registrationInfo === undefined) throw new AppError('invalid_input', 'this passkey could not be verified');
  const { id, publicKey, counter, transports = [] } = registrationInfo.credential;
  return { id, publicKey: Buffer.from(publicKey), counter, transports };
}

/** Returns what the browser needs to use one of these passkeys. */
export async function authenticationOptions(party: RelyingParty, passkeys: readonly PasskeyRow[]) {
  const { generateAuthenticationOptions } = await library();
  return await generateAuthenticationOptions({
    rpID: party.id,
    userVerification: 'preferred',
    allowCredentials: passkeys.map(({ id, transports }) => ({ id, transports: [...transports] })),
  });
}

/** The passkey's new counter when it signed the challenge; null when it did not. */
export async function verifyAuthentication(
  party: RelyingParty,
  response: unknown,
  challenge: string,
  passkey: PasskeyRow,
): Promise<number | null> {
  const { verifyAuthenticationResponse } = await library();
  try {
    const { verified, authenticationInfo } = await verifyAuthenticationResponse({
      response: response as AuthenticationResponseJSON,
      expectedChallenge: challenge,
      expectedOrigin: party.origin,
      expectedRPID: party.id,
      requireUserVerification: false,
      credential: {
        id: passkey.id,
        publicKey: new Uint8Array(passkey.publicKey),
        counter: passkey.counter,
        transports: [...passkey.transports],
      },
    });
    return verified ? authenticationInfo.newCounter : null;
  } catch {
    return null;
  }
}
