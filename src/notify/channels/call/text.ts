import { comparisonOf } from '#modules/incidents/decide/comparison.ts';
import { proposalText } from '#modules/agents/decide/proposal.ts';
import type { Answer } from '#notify/answer_link.ts';
import { digestSummary, type Message, newsText, type Offer, type PageSubject, splitTitle } from '#notify/message.ts';
import { NUMBER_CHANGED } from '#notify/texts/number_changed_text.ts';

const TITLE_LENGTH_MAX = 200;

/** Speech text of a call, and whether a key may be pressed. */
export interface Speech {
  readonly text: string;
  readonly hasChoice: boolean;
}

/** Digits and names are kept short, since it is heard half asleep. */
export function speechText(message: Message): Speech {
  switch (message.kind) {
    case 'page': {
      const text = `This is Tocsin. ${incidentSpeech(message.subject)}`;
      return withChoices(text, message.offer, 'hear this again');
    }
    case 'news': {
      const { subject, event } = message;
      const text = `This is Tocsin. Incident ${subject.number} on ${subject.serviceName} ${newsText(event, message.by)}`;
      return { text, hasChoice: false };
    }
    case 'proposal': {
      const text = `This is Tocsin. About incident ${message.subject.number}: ${proposalText(message.proposal)} Answer in the console.`;
      return { text, hasChoice: false };
    }
    case 'digest': {
      const first = message.items.find(({ news }) => news === null)?.subject;
      const text = `This is Tocsin. ${digestSummary(message.items)}.`;
      if (first === undefined) return { text: `${text} No need to act.`, hasChoice: false };
      const whole = `${text} The first: ${incidentSpeech(first)}`;
      if (message.offer === 'nothing') return withChoices(whole, message.offer, '');
      return { text: `${whole} Press 1 to acknowledge all of them. Press 3 to hear this again.`, hasChoice: true };
    }
    case 'test':
      return { text: 'This is Tocsin. This is a test call. Press 1 to confirm that you hear it.', hasChoice: true };
    case 'duty':
      return { text: `This is Tocsin. ${message.title}.`, hasChoice: false };
    case 'code':
      return { text: `This is Tocsin. Your code is ${message.code.split('').join(', ')}.`, hasChoice: false };
    case 'number_changed':
    case 'member_number_changed':
      return { text: `This is Tocsin. ${NUMBER_CHANGED[message.kind]}`, hasChoice: false };
  }
}

function withChoices(text: string, offer: Offer | undefined, again: string): Speech {
  if (offer === 'nothing') return { text: `${text} Answer in the console.`, hasChoice: false };
  const resolve = offer === 'acknowledge' ? '' : ' Press 2 to resolve.';
  return { text: `${text} Press 1 to acknowledge.${resolve} Press 3 to ${again}.`, hasChoice: true };
}

/**
 * Returns the speech text for voicemail or a phone that screens calls: nothing about the incident, and the same keys.
 */
export function speechTextForMachine(message: Message): Speech {
  switch (message.kind) {
    case 'page': {
      const text = `This is Tocsin, calling about incident ${message.subject.number}.`;
      return withChoices(text, message.offer, 'hear what it is about');
    }
    case 'digest': {
      const { hasChoice } = speechText(message);
      const choices = hasChoice ? ' Press 1 to acknowledge all of them. Press 3 to hear what they are about.' : '';
      return { text: `This is Tocsin, calling about several incidents.${choices}`, hasChoice };
    }
    case 'test':
      return speechText(message);
    case 'news':
    case 'proposal':
    case 'duty':
    case 'code':
    case 'number_changed':
    case 'member_number_changed':
      return { text: 'This is Tocsin. Open the console to see what happened. Goodbye.', hasChoice: false };
  }
}

/** Signs and short units are spelt out, since a voice reads ">" badly. */
function incidentSpeech(subject: PageSubject): string {
  const { number, serviceName, severity, details } = subject;
  const { rest } = splitTitle(subject);
  const measured = comparisonOf(details, { isSpoken: true });
  const value = measured === null ? '' : ` ${measured}.`;
  return `Incident ${number} on ${serviceName}, severity ${severity}. ${rest.slice(0, TITLE_LENGTH_MAX)}.${value}`;
}

/** Requests of Twilio during a call, by the names of their addresses. */
export const VOICE = { say: 'voice', digit: 'voice-digit', pin: (answer: Answer) => `voice-pin-${answer}` } as const;
