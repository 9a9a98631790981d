import { AppError, type ErrorCode } from '#kernel/errors.ts';

/** Reasons why a sign-in through a provider fails, each with what the person reads. */
const FAULTS = {
  not_begun: [
    'unauthenticated',
    'this sign-in was not begun in this browser, took more than ten minutes, or was used already; begin again',
  ],
  no_connection: ['unauthenticated', 'no sign-in provider is set up here; sign in with your password'],
  connection_changed: ['unauthenticated', 'the sign-in provider was changed meanwhile; begin again'],
  other_provider: ['unauthenticated', 'the answer came from another provider than the one that was asked; begin again'],
  provider_refused: ['unauthenticated', 'the provider did not sign you in; begin again, or ask those who run it'],
  code_refused: ['unauthenticated', 'the provider did not accept what it sent along with you; begin again'],
  not_verified: [
    'unauthenticated',
    "the provider's answer could not be verified, so you are not signed in; begin again, and tell an owner of your organization if it happens again",
  ],
  provider_away: ['unavailable', 'the sign-in provider does not answer as it should; try again in a minute'],
  address_missing: [
    'forbidden',
    'the provider tells no mail address of you; ask those who run it to send the claim email',
  ],
  address_unreadable: [
    'forbidden',
    'the mail address that the provider tells has letters that look like others, so it is not accepted; ask those who run it to correct it',
  ],
  address_unverified: [
    'forbidden',
    'the provider has not verified your mail address; verify it there, then begin again',
  ],
  foreign_domain: [
    'forbidden',
    'your mail address is in no domain that the organization has proven; ask an owner to add the domain',
  ],
  not_admitted: [
    'forbidden',
    'this organization admits nobody new through its provider; ask an owner or admin to invite you',
  ],
  removed: ['forbidden', 'you are no longer a member of this organization; ask an owner or admin to invite you'],
  not_invited: [
    'forbidden',
    'an account with your mail address exists, but is no member of this organization; ask an owner or admin to invite you',
  ],
  owner_not_linked: [
    'forbidden',
    'an owner links the provider once: sign in here with your password, then continue with the provider in the same browser',
  ],
  other_subject: [
    'forbidden',
    'somebody else at the provider signed in with this mail address before; sign in here with your password, then continue with the provider in the same browser',
  ],
  role_unreadable: [
    'forbidden',
    'the provider tells your groups in a form that cannot be read; ask an owner to correct the claim for roles',
  ],
  no_role: ['forbidden', 'none of your groups at the provider has a role here; ask an owner to give you one'],
} as const satisfies Readonly<Record<string, readonly [ErrorCode, string]>>;

export type SignInFault = keyof typeof FAULTS;

/** Error of a sign-in through a provider. Its cause, which may hold words of the provider, is never sent. */
export class ProviderSignInError extends AppError {
  readonly fault: SignInFault;

  constructor(fault: SignInFault, cause?: unknown) {
    const [code, sentence] = FAULTS[fault];
    super(code, sentence, { cause });
    this.name = 'ProviderSignInError';
    this.fault = fault;
  }
}
