import type { PageSubject } from '#notify/message.ts';

const TITLE_LENGTH_MAX = 200;

/** What a call says first; digits and names are kept short, since it is heard half asleep. */
export function spokenIncident(subject: PageSubject): string {
  const title = subject.title.slice(0, TITLE_LENGTH_MAX);
  return `This is Tocsin. Incident ${subject.number} on ${subject.serviceName}, severity ${subject.severity}. ${title}.`;
}

export const SPOKEN_CHOICES = 'Press 1 to acknowledge. Press 2 to resolve. Press 3 to hear this again.';
