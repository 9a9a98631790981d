import {
  PRESS_LABELS,
  type PlaceContent,
  type PlaceIncident,
  pressesOf,
  stateText,
} from '#modules/places/decide/place_content.ts';
import { pressToken } from '#notify/places/mattermost/presses.ts';
import { pressData } from '#notify/places/presses.ts';
import { markdownWithin } from '#notify/places/text.ts';

/** Characters of a title and of a message; Mattermost takes 16,383. */
const TITLE_LENGTH_MAX = 300;
const MESSAGE_LENGTH_MAX = 4_000;

interface Answers {
  /** Address that takes presses, and the secret that marks them. */
  readonly url: string;
  readonly secret: string;
}

/** Returns the text and properties of a post. */
export function mattermostPost(
  content: PlaceContent,
  answers: Answers,
): { readonly message: string; readonly props: object } {
  switch (content.kind) {
    case 'test':
      return {
        message: markdownWithin(`This is a test of Tocsin for ${content.organization}.`, MESSAGE_LENGTH_MAX),
        props: {},
      };
    case 'note': {
      const { author, text } = content.note;
      return { message: markdownWithin(`${author}: ${text}`, MESSAGE_LENGTH_MAX), props: {} };
    }
    case 'incident':
      return { message: '', props: { attachments: [attachment(content.incident, answers)] } };
  }
}

const COLORS = { triggered: '#d63939', acknowledged: '#d98c0a', resolved: '#2b8a3e' } as const;

function attachment(incident: PlaceIncident, { url, secret }: Answers): object {
  const { title, service, severity, number, status } = incident;
  const shown = markdownWithin(title, TITLE_LENGTH_MAX);
  return {
    fallback: shown,
    color: COLORS[status],
    title: shown,
    title_link: incident.url,
    text: markdownWithin(stateText(incident), MESSAGE_LENGTH_MAX),
    fields: [
      { short: true, title: 'Service', value: markdownWithin(service.name, TITLE_LENGTH_MAX) },
      { short: true, title: 'Severity', value: markdownWithin(severity, 100) },
      { short: true, title: 'Incident', value: String(number) },
    ],
    actions: pressesOf(incident).map((press) => {
      const data = pressData(press, incident);
      const context = { data, token: pressToken(secret, data) };
      return { id: press, name: PRESS_LABELS[press], type: 'button', integration: { url, context } };
    }),
  };
}
