import MessagingResponse from 'twilio/lib/twiml/MessagingResponse.js';
import VoiceResponse from 'twilio/lib/twiml/VoiceResponse.js';

import type { Speech } from '#notify/channels/call/text.ts';
import { xmlCharacters } from '#notify/texts/html.ts';

const SECONDS_TO_PRESS = 8;
const TIMES_SAID = 3;

/** Says the message and waits for one digit, three times, since the first is heard half asleep. */
export function askForDigit({ text, hasChoice }: Speech, digitUrl: string): string {
  if (!hasChoice) return sayAndHangUp(text);
  const response = new VoiceResponse();
  for (let time = 0; time < TIMES_SAID; time += 1) {
    const gather = response.gather({ numDigits: 1, action: digitUrl, method: 'POST', timeout: SECONDS_TO_PRESS });
    gather.say(xmlCharacters(text));
  }
  response.say('No key was pressed. Goodbye.');
  response.hangup();
  return response.toString();
}

/** Asks the person on the phone for their PIN; the hash key ends it. */
export function askForPin(pinUrl: string): string {
  const response = new VoiceResponse();
  const gather = response.gather({ finishOnKey: '#', action: pinUrl, method: 'POST', timeout: SECONDS_TO_PRESS });
  gather.say('Enter your PIN, then press the hash key.');
  response.say('No PIN was entered. Nothing was changed. Goodbye.');
  response.hangup();
  return response.toString();
}

export function sayAndHangUp(text: string): string {
  const response = new VoiceResponse();
  response.say(xmlCharacters(text));
  response.hangup();
  return response.toString();
}

/** The answer to an SMS; null answers nothing. */
export function replyBySms(text: string | null): string {
  const response = new MessagingResponse();
  if (text !== null) response.message(xmlCharacters(text));
  return response.toString();
}
