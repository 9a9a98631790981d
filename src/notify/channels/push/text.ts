import { linkTo, PAGES } from '#modules/pages/decide/pages.ts';
import { comparisonOf } from '#modules/incidents/decide/comparison.ts';
import type { AnswerLinks } from '#notify/answer_link.ts';
import { proposalText } from '#modules/agents/decide/proposal_text.ts';
import { digestSummary, newsText, type OutgoingMessage, type PageSubject } from '#notify/message.ts';
import { NUMBER_CHANGED } from '#notify/texts/number_changed_text.ts';
import type { RuleGuidance } from '#modules/rules/decide/rule_guidance.ts';
import { withoutLinks } from '#notify/texts/without_links.ts';

/** Notification that the console's service worker shows. A button opens its `url`, which asks once before it acts. */
export interface PushText {
  readonly title: string;
  readonly body: string;
  /** A later message with the same tag takes the place of an earlier one. */
  readonly tag: string;
  readonly url: string;
  readonly actions: readonly { readonly action: string; readonly title: string; readonly url: string }[];
}

/** A push message holds some 4,000 bytes in all (RFC 8291 §4); links take 600, and JSON up to six for a character. */
const TITLE_LENGTH_MAX = 200;
/** An address of a runbook that there is room for: half of it would lead nowhere. */
const RUNBOOK_SHOWN = /^[!-~]{1,300}$/;
const LISTED_LENGTH_MAX = 80;
const LISTED_MAX = 5;

export function pushText(outgoing: OutgoingMessage, links: AnswerLinks, baseUrl: string): PushText {
  const { message } = outgoing;
  const acknowledge = (title: string) => ({
    action: 'acknowledge',
    title,
    url: links.urlOf('acknowledge', outgoing),
  });
  switch (message.kind) {
    case 'page': {
      const { subject, offer, guidance } = message;
      const resolve = { action: 'resolve', title: 'Resolve', url: links.urlOf('resolve', outgoing) };
      return {
        ...aboutIncident(subject, outgoing, baseUrl),
        body: [
          [comparisonOf(subject.details), `Incident ${subject.number}, severity ${subject.severity}.`]
            .filter((part) => part !== null)
            .join('. '),
          ...guidanceLines(guidance),
        ].join('\n'),
        actions: [acknowledge('Acknowledge'), ...(offer === 'acknowledge' ? [] : [resolve])],
      };
    }
    case 'news':
      return {
        ...aboutIncident(message.subject, outgoing, baseUrl),
        body: `Incident ${message.subject.number} ${newsText(message.event, message.by)}`,
        actions: [],
      };
    case 'proposal':
      return {
        ...aboutIncident(message.subject, outgoing, baseUrl),
        tag: outgoing.notificationId,
        body: proposalText(message.proposal).slice(0, TITLE_LENGTH_MAX),
        actions: [{ action: 'answer', title: 'Answer', url: links.proposalUrlOf(outgoing) }],
      };
    case 'digest': {
      const listed = message.items.slice(0, LISTED_MAX);
      return {
        title: digestSummary(message.items),
        body: listed.map(({ subject }) => titleOf(subject, LISTED_LENGTH_MAX)).join('\n'),
        tag: outgoing.notificationId,
        url: linkTo(baseUrl, PAGES.incidents, outgoing.orgId),
        actions: message.items.some(({ news }) => news === null) ? [acknowledge('Acknowledge all')] : [],
      };
    }
    case 'test':
      return {
        title: 'Push from Tocsin reaches you.',
        body: 'Somebody asked for this test in your name. No need to act.',
        tag: outgoing.notificationId,
        url: linkTo(baseUrl, PAGES.me, outgoing.orgId),
        actions: [],
      };
    case 'code':
      return accountText('Your code', message.code, outgoing, baseUrl);
    case 'number_changed':
    case 'member_number_changed':
      return accountText('A phone number was changed', NUMBER_CHANGED[message.kind], outgoing, baseUrl);
  }
}

function guidanceLines(guidance: RuleGuidance | undefined): string[] {
  const { description = null, runbookUrl = null } = guidance ?? {};
  return [
    ...(description === null ? [] : [withoutLinks(withoutLinks(description).slice(0, TITLE_LENGTH_MAX))]),
    ...(runbookUrl === null || !RUNBOOK_SHOWN.test(runbookUrl) ? [] : [`Runbook: ${runbookUrl}`]),
  ];
}

function accountText(
  title: string,
  body: string,
  { notificationId: tag, orgId }: OutgoingMessage,
  baseUrl: string,
): PushText {
  return { title, body, tag, url: linkTo(baseUrl, PAGES.me, orgId), actions: [] };
}

function aboutIncident(subject: PageSubject, { orgId }: OutgoingMessage, baseUrl: string) {
  const url = linkTo(baseUrl, `${PAGES.incidents}/${subject.id}`, orgId);
  return { title: titleOf(subject, TITLE_LENGTH_MAX), tag: subject.id, url };
}

function titleOf({ serviceName, title }: PageSubject, length: number): string {
  const about = `${serviceName}: `.slice(0, length);
  return about + withoutLinks(withoutLinks(title).slice(0, length - about.length));
}
