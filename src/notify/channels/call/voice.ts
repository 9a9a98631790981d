import type { Answer } from '#notify/answer_link.ts';

/** Requests of Twilio during a call, by the names of their addresses. */
export const VOICE = {
  say: 'voice',
  digit: 'voice-digit',
  pin: (answer: Answer) => `voice-pin-${answer}`,
} as const;
