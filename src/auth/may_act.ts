import { AppError } from '#kernel/errors.ts';
import { isAbove, isManagerRole, type Role } from '#kernel/permissions.ts';
import type { Temporal } from '#kernel/time.ts';
import type { Standing } from '#modules/accounts/store/standing.ts';
import { isWithin } from '#modules/sign_in/decide/networks.ts';
import { hasProviderFactor, refusedSignIn, type SignedInBy } from '#modules/sign_in/decide/provider_rule.ts';
import type { NumberClaim } from '#modules/contacts/store/phone_number_store.ts';

/** The way by which a person acts in an organization. */
export type Way =
  /** Acts in the console. */
  | {
      readonly kind: 'session';
      readonly secondFactorAt: Temporal.Instant | null;
      readonly by: SignedInBy;
      readonly address: string | null;
    }
  /** Acts through a connected app, or by a key of their own. */
  | { readonly kind: 'credential'; readonly address: string | null }
  /**
   * Acts by a reply, a key pressed in a call, or a link in a message. `number` is null for mail and push, which reach
   * only the account's own mailbox and browsers.
   */
  | {
      readonly kind: 'message';
      readonly number: NumberClaim | null;
      readonly wants: 'acknowledge' | 'more';
      /** Role of whoever knows the secret by which a chat says who presses; absent where a chat has no part in it. */
      readonly secretRole?: Role | null;
    };

/** Reason why a person may not act; each has its sentence where the person reads it. */
export type Refusal =
  | 'no_member'
  | 'address_not_allowed'
  | 'provider_required'
  | 'other_provider'
  | 'second_factor_missing'
  | 'second_factor_not_shown'
  | 'number_unconfirmed'
  | 'number_of_another'
  | 'place_of_lower_role';

/**
 * Returns why this person may not act in the organization now, by this way; null when they may. Every way in asks here:
 * this is the one place for the second factor, the provider that an organization requires, and its list of addresses.
 *
 * A page must not wait because of a policy or a code that was never typed, so a number that nobody has confirmed, and an
 * owner or admin without the second factor that the organization requires, may still acknowledge by a message, and do
 * nothing else. So may an owner in a chat whose secret somebody of a lower role knows, who could press in their name.
 */
export function refusalOf(standing: Standing | null, way: Way): Refusal | null {
  if (standing === null) return 'no_member';
  if (way.kind !== 'message' && !isWithin(way.address, standing.networks)) return 'address_not_allowed';
  const lacksFactor = standing.secondFactorRequired && isManagerRole(standing.role) && !standing.hasSecondFactor;
  switch (way.kind) {
    case 'session': {
      const refusedWay = refusedSignIn(way.by, standing);
      if (refusedWay !== null) return refusedWay;
      if (lacksFactor && !hasProviderFactor(way.by, standing, way.secondFactorAt !== null)) {
        return 'second_factor_missing';
      }
      const isRequired = standing.secondFactorRequired && isManagerRole(standing.role);
      return isRequired && way.secondFactorAt === null ? 'second_factor_not_shown' : null;
    }
    case 'credential':
      return lacksFactor ? 'second_factor_missing' : null;
    case 'message': {
      if (way.number === 'of_another') return 'number_of_another';
      if (way.wants === 'acknowledge') return null;
      if (way.number === 'unconfirmed') return 'number_unconfirmed';
      if (way.secretRole !== undefined && isAbove(standing.role, way.secretRole ?? 'admin')) {
        return 'place_of_lower_role';
      }
      return lacksFactor ? 'second_factor_missing' : null;
    }
  }
}

/** The refusal as an error, for ways in that answer with one. */
export function refusalError(refusal: Refusal): AppError {
  switch (refusal) {
    case 'no_member':
      return new AppError('not_found', 'you are not a member of an organization with this id');
    case 'address_not_allowed':
      return new AppError(
        'forbidden',
        'this organization admits only addresses of its list, and yours is not in it; ask an owner',
      );
    case 'provider_required':
      return new AppError(
        'forbidden',
        "sign in through your organization's provider: it admits members in no other way; sign out first",
      );
    case 'other_provider':
      return new AppError(
        'forbidden',
        "you signed in through another organization's provider; sign out, and sign in with your password to act here",
      );
    case 'second_factor_missing':
      return new AppError(
        'second_factor_required',
        'this organization requires a second factor of owners and admins; set one up on your account page',
      );
    case 'second_factor_not_shown':
      return new AppError(
        'step_up_required',
        'this organization requires the second factor of owners and admins; enter yours',
      );
    case 'place_of_lower_role':
      return new AppError('forbidden', 'an owner has to enter the settings of this place first');
    case 'number_unconfirmed':
    case 'number_of_another':
      return new AppError('forbidden', 'confirm your phone number on your account page first');
  }
}
