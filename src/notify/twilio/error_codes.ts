/**
 * Final refusals by Twilio's code (https://www.twilio.com/docs/api/errors), whether told at once or in a report. What only
 * the operator can mend begins with `provider_`.
 */
const REASONS: Readonly<Record<number, string>> = {
  13223: 'bad_number',
  13224: 'bad_number',
  20003: 'provider_refused_credentials',
  20005: 'provider_account_suspended',
  21211: 'bad_number',
  21212: 'provider_sender_refused',
  21214: 'bad_number',
  21215: 'region_not_enabled',
  21217: 'bad_number',
  21408: 'region_not_enabled',
  21606: 'provider_sender_refused',
  21608: 'number_not_verified',
  21610: 'unsubscribed',
  21612: 'not_reachable_from_sender',
  21614: 'not_a_mobile_number',
  21659: 'provider_sender_refused',
  21660: 'provider_sender_refused',
  21661: 'provider_sender_refused',
  30002: 'provider_account_suspended',
  30003: 'phone_unreachable',
  30004: 'message_blocked',
  30005: 'unknown_number',
  30006: 'landline',
  30007: 'carrier_filtered',
  30008: 'carrier_fault',
  30010: 'provider_price_limit',
  30018: 'provider_sender_not_registered',
  30023: 'provider_limit_reached',
  30024: 'provider_sender_not_registered',
  30027: 'provider_limit_reached',
  30032: 'provider_sender_not_registered',
  30033: 'provider_sender_not_registered',
  30034: 'provider_sender_not_registered',
  30035: 'provider_sender_not_registered',
  30037: 'provider_account_suspended',
  63038: 'provider_limit_reached',
};

/** Returns the reason of an error code; undefined for a code without a known meaning. */
export function reasonOfCode(code: number): string | undefined {
  return REASONS[code];
}
