import { comparisonOf } from '#modules/incidents/decide/comparison.ts';
import type { NewsEvent } from '#modules/incidents/decide/incident.ts';
import type { ProposalText } from '#modules/agents/decide/proposal.ts';
import type { RuleGuidance } from '#modules/rules/decide/kind_settings.ts';
import type { Id } from '#kernel/ids.ts';
import type { Temporal } from '#kernel/time.ts';

/** The incident that a message is about, as far as its text needs it. */
export interface PageSubject {
  readonly id: string;
  /** Number that a person types in a reply. */
  readonly number: number;
  readonly title: string;
  readonly severity: string;
  readonly serviceName: string;
  /** Measured values of a metric rule's incident. */
  readonly details: Readonly<Record<string, unknown>>;
}

/** Entry of a digest: the message that it stands for. */
export interface DigestItem {
  readonly notificationId: string;
  readonly subject: PageSubject;
  /** Status update; null for a page: the incident waits for somebody. */
  readonly news: NewsEvent | null;
}

/**
 * Actions that the receiver may take by answering: a message offers nothing that its answer would be refused.
 * `acknowledge`: nothing else, such as from a number that nobody has confirmed. `nothing`: the number is another
 * person's.
 */
export type Offer = 'everything' | 'acknowledge' | 'nothing';

/** Content of a message. Its text depends on nothing that usually changes between two attempts. */
export type Message =
  /** Pages somebody. */
  | {
      readonly kind: 'page';
      readonly subject: PageSubject;
      readonly offer?: Offer;
      /** Absent for an incident that no rule opened. */
      readonly guidance?: RuleGuidance;
    }
  /** Notifies people who were paged that the incident was taken care of, or is open again. */
  | {
      readonly kind: 'news';
      readonly subject: PageSubject;
      readonly event: NewsEvent;
      /** Name of whoever made the change; null leaves it out of the text. */
      readonly by: string | null;
    }
  /** An agent asks somebody who was paged to approve something, or to answer a question. */
  | {
      readonly kind: 'proposal';
      readonly subject: PageSubject;
      readonly proposal: ProposalText;
      readonly offer?: Offer;
    }
  /** Stands for at least two messages that would have been too many, oldest first. */
  | { readonly kind: 'digest'; readonly items: readonly DigestItem[]; readonly offer?: Offer }
  /** Test that the receiver asked for, to see that the channel works. */
  | { readonly kind: 'test' }
  /** Proves that the number belongs to the person who types the code. */
  | { readonly kind: 'code'; readonly code: string }
  /** Tells a person of their shifts. */
  | { readonly kind: 'duty'; readonly title: string; readonly body: string; readonly path: string }
  /** Notifies a person that their phone number was changed, or owners and admins that a member's was. */
  | { readonly kind: 'number_changed' | 'member_number_changed' };

export interface OutgoingMessage {
  readonly notificationId: string;
  readonly orgId: Id<'org'>;
  /** Time at which it was entered in the log. */
  readonly createdAt: Temporal.Instant;
  /** Address; null for push, which goes to every browser that the person has subscribed. */
  readonly to: string | null;
  readonly userId: Id<'user'>;
  readonly message: Message;
}

export function newsText(event: NewsEvent, by: string | null): string {
  if (event === 'proposed') return 'has a question of an agent.';
  if (event === 'reopened') return 'is open again: the answer was undone.';
  return `is ${event}${by === null ? '' : ` by ${by}`}. No need to act.`;
}

/** A title that begins with what was measured, so that no cut can lose it; the title itself when nothing was. */
export function splitTitle({ title, details }: PageSubject): { readonly first: string; readonly rest: string } {
  const comparison = comparisonOf(details);
  if (comparison === null) return { first: '', rest: title };
  return { first: comparison, rest: title.replace(`: ${comparison}`, '') };
}

/** Summarizes a digest in half a sentence, such as "2 more incidents". */
export function digestSummary(items: readonly DigestItem[]): string {
  const pages = items.filter(({ news }) => news === null).length;
  const again = items.filter(({ news }) => news === 'reopened').length;
  const asked = items.filter(({ news }) => news === 'proposed').length;
  const others = items.length - pages - again - asked;
  const more = pages === 0 ? '' : `${pages} more ${pages === 1 ? 'incident' : 'incidents'}`;
  const closed = others === 0 ? '' : `${others} taken care of`;
  const open = again === 0 ? '' : `${again} open again`;
  const waiting = asked === 0 ? '' : `${asked} ${asked === 1 ? 'question' : 'questions'} of an agent`;
  return [more, open, waiting, closed].filter((part) => part !== '').join(', ');
}
