import type { Answer } from '#notify/answer_link.ts';

/** What Twilio asks while a call lasts, by the names of the addresses. */
export const VOICE = {
  say: 'voice',
  digit: 'voice-digit',
  pin: (answer: Answer) => `voice-pin-${answer}`,
} as const;
