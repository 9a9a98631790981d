import {
  PRESS_LABELS,
  type PlaceContent,
  type PlaceIncident,
  pressesOf,
  stateText,
} from '#modules/places/decide/place_content.ts';
import { pressData } from '#notify/places/presses.ts';
import { escapedWithin } from '#notify/places/text.ts';

/** Telegram takes 4,096 characters after its entities are parsed. */
const TITLE_LENGTH_MAX = 1_000;
const TEXT_LENGTH_MAX = 2_500;

const ESCAPES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' };

/** Escapes a text for Telegram's HTML, within a length. */
function telegramText(text: string, lengthMax: number): string {
  return escapedWithin(text, lengthMax, (letter) => ESCAPES[letter] ?? letter);
}

/** Returns the text and buttons of a message. */
export function telegramMessage(content: PlaceContent): object {
  switch (content.kind) {
    case 'test':
      return message(telegramText(`This is a test of Tocsin for ${content.organization}.`, TEXT_LENGTH_MAX));
    case 'note':
      return message(telegramText(`${content.note.author}: ${content.note.text}`, TEXT_LENGTH_MAX));
    case 'incident':
      return {
        ...message(incidentText(content.incident)),
        reply_markup: { inline_keyboard: keyboard(content.incident) },
      };
  }
}

function message(text: string): object {
  return { text, parse_mode: 'HTML', link_preview_options: { is_disabled: true } };
}

function incidentText(incident: PlaceIncident): string {
  const { title, service, severity, number } = incident;
  const facts = `${service.name} · ${severity} · incident ${number}`;
  return `<b>${telegramText(title, TITLE_LENGTH_MAX)}</b>\n${telegramText(`${stateText(incident)}\n${facts}`, TEXT_LENGTH_MAX)}`;
}

/** A button of Telegram brings back 64 bytes, which hold the press, the incident and the step. */
function keyboard(incident: PlaceIncident): readonly (readonly object[])[] {
  const presses = pressesOf(incident).map((press) => {
    return { text: PRESS_LABELS[press], callback_data: pressData(press, incident) };
  });
  return [...(presses.length === 0 ? [] : [presses]), [{ text: 'Open', url: incident.url }]];
}
