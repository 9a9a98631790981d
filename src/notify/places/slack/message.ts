import {
  cutText,
  PRESS_LABELS,
  type PlaceContent,
  type PlaceIncident,
  type Press,
  pressesOf,
  stateText,
} from '#modules/places/decide/place_content.ts';
import { slackTextWithin } from '#notify/places/slack/text.ts';
import { withoutLinks } from '#notify/texts/without_links.ts';

/** Limits of Slack: characters of a header, of a text in a section, and of the text of a notification. */
const HEADER_LENGTH_MAX = 150;
const SECTION_LENGTH_MAX = 1_900;
const TEXT_LENGTH_MAX = 3_900;

/** Returns the text and blocks of a message. */
export function slackMessage(content: PlaceContent): { readonly text: string; readonly blocks?: readonly object[] } {
  switch (content.kind) {
    case 'test':
      return { text: slackTextWithin(`This is a test of Tocsin for ${content.organization}.`, TEXT_LENGTH_MAX) };
    case 'note':
      return { text: slackTextWithin(`${content.note.author}: ${content.note.text}`, TEXT_LENGTH_MAX) };
    case 'incident':
      return incidentMessage(content.incident);
  }
}

function incidentMessage(incident: PlaceIncident) {
  const { title, service, severity, number, url, occurrences } = incident;
  const state = stateText(incident);
  const facts = [
    `*Service*\n${slackTextWithin(service.name, SECTION_LENGTH_MAX)}`,
    `*Severity*\n${slackTextWithin(severity, 100)}`,
    `*State*\n${slackTextWithin(state, SECTION_LENGTH_MAX)}`,
    ...(occurrences > 1 ? [`*Occurrences*\n${occurrences}`] : []),
  ];
  return {
    text: slackTextWithin(`[${severity}] ${service.name}: ${title}. ${state}.`, TEXT_LENGTH_MAX),
    blocks: [
      { type: 'header', text: plain(withoutLinks(title), HEADER_LENGTH_MAX) },
      { type: 'section', fields: facts.map((text) => ({ type: 'mrkdwn', text, verbatim: true })) },
      { type: 'context', elements: [plain(`Incident ${number}`, 150)] },
      {
        type: 'actions',
        block_id: incident.id,
        elements: [
          ...pressesOf(incident).map((press) => button(press, incident)),
          { type: 'button', action_id: 'open', text: plain('Open', 75), url },
        ],
      },
    ],
  };
}

function button(press: Press, { id, nextStep }: PlaceIncident): object {
  const value = press === 'escalate' ? `${id} ${nextStep ?? 0}` : id;
  return {
    type: 'button',
    action_id: press,
    text: plain(PRESS_LABELS[press], 75),
    value,
    ...(press === 'acknowledge' && { style: 'primary' }),
  };
}

function plain(text: string, lengthMax: number): object {
  return { type: 'plain_text', text: cutText(text.toWellFormed(), lengthMax) || ' ', emoji: false };
}
