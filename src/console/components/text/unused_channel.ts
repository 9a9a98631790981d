import { unusedBecause } from '#modules/incidents/decide/reasons.ts';
import { type AddressKind, type Channel, declarationOf } from '#modules/contacts/decide/channel.ts';

const NO_ADDRESS: Record<AddressKind, string> = {
  phone: 'no number',
  browser: 'no device',
  email: 'no mail address',
};

/** Returns why a channel does not reach somebody, in a few words that follow a colon. */
export function whyUnused(channel: Channel, reason: string): string {
  switch (reason) {
    case 'no_address':
      return NO_ADDRESS[declarationOf(channel).addressKind];
    case 'off':
    case 'channel_off':
      return 'switched off';
    case 'stopped':
      return 'stopped by STOP';
    case 'simulated':
      return 'goes to the phone simulator';
    case 'not_configured':
    case 'channel_not_configured':
      return 'not set up on this server';
    default:
      return unusedBecause(reason);
  }
}
