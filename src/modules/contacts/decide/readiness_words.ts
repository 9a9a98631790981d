/** Whether a page at night would wake somebody; `unproved`: it should, but nothing that arrived lately shows it. */
export const READINESS_ANSWERS = ['yes', 'unproved', 'no'] as const;

export type ReadinessAnswer = (typeof READINESS_ANSWERS)[number];

/** Whether a channel is used for somebody, and else why not. */
export const CHANNEL_READINESS = ['ready', 'off', 'no_address', 'stopped', 'simulated', 'not_configured'] as const;

export type ChannelReadiness = (typeof CHANNEL_READINESS)[number];

/** Reasons that keep the answer from being a plain yes, as sentences about somebody, and addressed to themselves. */
export const READINESS_REASONS = {
  no_waking_channel: {
    them: 'No SMS, call or push reaches them. Mail alone wakes nobody.',
    you: 'No SMS, call or push reaches you. Mail alone wakes nobody.',
  },
  number_not_confirmed: {
    them: 'They have not confirmed that the phone number is theirs.',
    you: 'You have not confirmed that the phone number is yours.',
  },
  cannot_answer: {
    them: 'Their role may neither acknowledge nor resolve: a page to them is answered by nobody.',
    you: 'Your role may neither acknowledge nor resolve: ask an owner or admin for the role responder.',
  },
  simulated: {
    them: 'SMS and calls go to the phone simulator, because no Twilio account is configured: they wake nobody.',
    you: 'SMS and calls go to the phone simulator, because no Twilio account is configured: they wake nobody.',
  },
  sms_stopped: {
    them: 'They have stopped SMS from this server (STOP). No SMS reaches them until they send START to its number.',
    you: 'You have stopped SMS from this server (STOP). No SMS reaches you until you send START to its number.',
  },
  never_proved: {
    them: 'No test or page has arrived at their current number or devices.',
    you: 'No test or page has arrived at your current number or devices: send yourself a test.',
  },
  proof_too_old: {
    them: 'The last test or page that arrived is older than 90 days.',
    you: 'The last test or page that arrived is older than 90 days: send yourself a test.',
  },
} as const;

export type ReadinessReason = keyof typeof READINESS_REASONS;
