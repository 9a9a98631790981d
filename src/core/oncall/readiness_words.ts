/** Whether a page at night would wake somebody; `unproved`: it should, but nothing that arrived lately shows it. */
export const READINESS_ANSWERS = ['yes', 'unproved', 'no'] as const;

export type ReadinessAnswer = (typeof READINESS_ANSWERS)[number];

/** Whether a channel is used for somebody, and else why not. */
export const CHANNEL_READINESS = ['ready', 'off', 'no_address', 'not_configured'] as const;

export type ChannelReadiness = (typeof CHANNEL_READINESS)[number];

/** What keeps the answer from being a plain yes, as sentences. */
export const READINESS_REASONS = {
  no_waking_channel: 'No SMS, call or push reaches them. Mail alone wakes nobody.',
  number_not_confirmed: 'They have not confirmed that the phone number is theirs.',
  never_proved: 'No test or page has arrived at their present number or devices.',
  proof_too_old: 'The last test or page that arrived is older than 90 days.',
} as const;

export type ReadinessReason = keyof typeof READINESS_REASONS;
