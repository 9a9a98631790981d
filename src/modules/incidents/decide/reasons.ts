import type { NotificationStatus } from '#modules/policies/decide/recipients.ts';

/** Phrases for why something did not work or was not sent; each follows a colon. */
const WORDS: Readonly<Record<string, string>> = {
  no_policy: 'its rule has no escalation policy',
  no_route: 'no route of its alert names an escalation policy',
  none_chosen: 'no escalation policy was chosen',
  no_steps: 'its escalation policy has no steps',
  no_targets: 'it names nobody',
  nobody_on_call: 'nobody is on call',
  no_usable_channel: 'every channel is off or has no address',
  channel_not_configured: 'the channel is not set up on this server',
  provider_unreachable: 'the provider could not be reached',
  push_address_not_public: 'the address of this device is not on the public Internet',
  provider_silent: 'the provider did not answer',
  provider_busy: 'the provider was too busy',
  provider_fault: 'the provider had an internal error',
  provider_refused_credentials: 'the provider does not accept the credentials of this server',
  provider_refused_push:
    'the push service does not accept this server: let the operator check its clock and its contact (MAIL_FROM, or an https BASE_URL), and subscribe the browser again if APP_SECRET was changed',
  provider_certificate_untrusted:
    'the certificate of the mail server is not trusted here: the operator can name the authority that signed it in SMTP_CA_FILE',
  provider_certificate_invalid:
    'the certificate of the mail server has expired, is for another host, or is too weak: the operator must have it issued again, or correct SMTP_URL',
  provider_without_encryption:
    'the mail server, or something before it, offers no encryption, which SMTP_URL requires: the operator must mend that first',
  provider_encryption_differs:
    'the mail server does not speak the encryption that SMTP_URL says: the operator must write smtps:// for a port that is encrypted at once (usually 465) and smtp:// for every other, and offer TLS 1.2 or newer there',
  provider_https_untrusted:
    'the certificate of the provider is not trusted here, as behind a proxy that reads along: the operator can name its authority in NODE_EXTRA_CA_CERTS',
  provider_https_invalid:
    'the certificate of the provider has expired, is for another host, or is too weak: the operator must check the clock of this server and its way to the provider',
  provider_refuses_mail:
    'the mail server does not pass mail of this server or of MAIL_FROM on: the operator must have that allowed there, or set a sender that is',
  provider_sender_not_registered:
    'carriers refuse TWILIO_FROM until the operator has registered it at the provider (A2P 10DLC, toll-free verification or sender ID)',
  provider_sender_refused:
    'the provider does not send from TWILIO_FROM: the operator must set a number of the account that can send it',
  provider_account_suspended:
    'the account at the provider is suspended or restricted: the operator must settle it there',
  provider_limit_reached: 'the daily limit of the account at the provider is reached: the operator can have it raised',
  provider_rate_limit:
    'carriers take no more messages in this time from TWILIO_FROM: the operator can have its rate raised at the provider',
  provider_blocks_number:
    'the provider suspects fraud with this number or country: the operator can have that checked there',
  provider_trial_account: 'a trial account sends no message of this length: the operator must upgrade it',
  provider_price_limit: 'it costs more than the limit that the operator has set at the provider',
  bad_number: 'the phone number is not valid',
  unknown_number: 'this phone number does not exist',
  unsubscribed: 'the person has stopped messages from this number (STOP); START sent to it resumes them',
  not_a_mobile_number: 'the phone number takes no SMS',
  landline: 'the phone number takes no SMS',
  not_reachable_from_sender:
    'the provider cannot reach this number from TWILIO_FROM: the operator can send from a number of that country',
  region_not_enabled: 'messages to this country are not enabled at the provider: the operator can enable them there',
  number_not_verified:
    'a trial account reaches verified numbers only: the operator can verify it at the provider, or upgrade',
  phone_unreachable: 'the phone is off or out of reach',
  message_blocked: 'the carrier blocked it',
  carrier_filtered: 'the carrier blocked it as spam',
  carrier_fault: 'the carrier had an internal error',
  carrier_congested: 'the network of the carrier was congested',
  carrier_silent: 'the carrier has not confirmed it',
  expired: 'it could not be delivered within ten minutes',
  not_delivered: 'it was not delivered',
  call_failed: 'the call could not be put through',
  call_cancelled: 'the call was cancelled',
  bad_address: 'there is no such mailbox',
  mailbox_full: 'the mailbox is full',
  no_subscription: 'no browser is subscribed any more',
  channel_off: 'the person has this channel off',
  no_address: 'no address is known',
  no_answer: 'nobody answered',
  busy: 'the line was busy',
  answering_machine: 'voicemail answered',
  no_key_pressed: 'it was answered, but no key was pressed',
  unconfirmed: 'the provider has not confirmed it',
  digest: 'in one message with others',
  acknowledged: 'the incident was acknowledged first',
  resolved: 'the incident was resolved first',
  taken_back: 'the answer was undone first',
  reassigned: 'the incident was handed over first',
  service_deleted: 'its service was deleted',
  restored: 'this server was restored from an older backup first',
  left_organization: 'the person has left the organization',
};

/** Phrases for why a channel was not used for a person. */
const UNUSED: Readonly<Record<string, string>> = {
  acknowledged: 'has acknowledged',
  left_organization: 'has left the organization',
  channel_off: 'has it off',
  no_address: 'has no address for it',
  channel_not_configured: 'it is not set up on this server',
};

/** Returns the phrase for a reason; one of a later version is shown as it is. */
export function reasonOf(reason: string): string {
  const refusal = /^provider_refused_(\d+)$/.exec(reason)?.[1];
  return (
    WORDS[reason] ?? (refusal === undefined ? reason.replaceAll('_', ' ') : `the provider refused it (${refusal})`)
  );
}

export function unusedBecause(reason: string): string {
  return UNUSED[reason] ?? reason.replaceAll('_', ' ');
}

/** The best outcome of all messages to a person; the best first. `simulated`: only the phone simulator took any. */
export const REACH_OUTCOMES = ['delivered', 'sent', 'on_its_way', 'simulated', 'failed'] as const;

type ReachOutcome = (typeof REACH_OUTCOMES)[number];

interface Reached<UserId> {
  readonly userId: UserId;
  readonly outcome: ReachOutcome;
}

/** Returns the people whom an incident's pages have reached, best outcome first. Pages never sent do not count. */
export function whoWasReached<UserId>(
  pages: readonly { readonly userId: UserId; readonly status: NotificationStatus; readonly isSimulated: boolean }[],
): Reached<UserId>[] {
  const byUser = Map.groupBy(pages, ({ userId }) => userId);
  return [...byUser]
    .flatMap(([userId, entries]): Reached<UserId>[] => {
      const outcomes = new Set(entries.map(({ status, isSimulated }) => outcomeOf(status, isSimulated)));
      const outcome = REACH_OUTCOMES.find((candidate) => outcomes.has(candidate));
      return outcome === undefined ? [] : [{ userId, outcome }];
    })
    .toSorted((a, b) => REACH_OUTCOMES.indexOf(a.outcome) - REACH_OUTCOMES.indexOf(b.outcome));
}

function outcomeOf(status: NotificationStatus, isSimulated: boolean): ReachOutcome | null {
  switch (status) {
    case 'delivered':
    case 'sent':
      return isSimulated ? 'simulated' : status;
    case 'failed':
      return status;
    case 'queued':
      return 'on_its_way';
    case 'skipped':
    case 'cancelled':
      return null;
  }
}
