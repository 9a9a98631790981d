import { proposalText } from '#modules/agents/decide/proposal.ts';
import { quoted } from '#modules/agents/decide/agent_text.ts';
import { linkTo, PAGES } from '#modules/pages/decide/pages.ts';
import type { RuleGuidance } from '#modules/rules/decide/kind_settings.ts';
import type { AnswerLinks } from '#notify/answer_link.ts';
import type { ChannelSender } from '#notify/channel.ts';
import { type MailText, type Piece, render } from '#notify/mail/mail_pieces.ts';
import { loadMailLibrary, type MailServer, messageIdOf, sendMail } from '#notify/mail/send_mail.ts';
import {
  digestSummary,
  type Message,
  newsText,
  type Offer,
  type OutgoingMessage,
  type PageSubject,
} from '#notify/message.ts';
import { NUMBER_CHANGED } from '#notify/texts/number_changed_text.ts';
import { withoutLinks } from '#notify/texts/without_links.ts';

/**
 * Mail by SMTP. A server that has the whole message and does not answer leaves its fate unknown, and no server can be
 * asked: so such a mail counts as sent, unconfirmed.
 */
export function emailSender(server: MailServer, links: AnswerLinks, baseUrl: string): ChannelSender {
  const host = new URL(baseUrl).hostname;
  return {
    uncertainAttemptsMax: 1,
    load: loadMailLibrary,
    send: (outgoing) =>
      sendMail(server, {
        to: outgoing.to ?? '',
        messageId: messageIdOf(outgoing.notificationId, host),
        ...threadOf(outgoing.message, host),
        ...mailText(outgoing, links, baseUrl),
        priority: outgoing.message.kind === 'page' ? 'high' : 'normal',
      }),
    listSent: async () => [],
  };
}

/**
 * Returns the headers of the thread: every mail about an incident refers to the same first one, which need not exist.
 */
function threadOf(message: Message, host: string): { inReplyTo?: string; references?: string } {
  if (message.kind !== 'page' && message.kind !== 'news') return {};
  const first = messageIdOf(message.subject.id, host);
  return { inReplyTo: first, references: first };
}

/** Limit on the listed items; longer lists are read in the console. */
const DIGEST_ITEMS_MAX = 50;

const WHY = 'You get this because you are on call. The links act in your name, after asking once, for seven days.';

export function mailText(outgoing: OutgoingMessage, links: AnswerLinks, baseUrl: string): MailText {
  const { message } = outgoing;
  switch (message.kind) {
    case 'page':
      return render(subjectOf(message.subject), [
        ...incidentPieces(message.subject),
        ...descriptionPieces(message.guidance),
        { kind: 'links', links: [...linksOf(message, outgoing, links, baseUrl), ...runbookLinks(message.guidance)] },
        { kind: 'paragraph', text: WHY },
      ]);
    case 'news':
      return render(`Re: ${subjectOf(message.subject)}`, [
        { kind: 'heading', text: titleOf(message.subject) },
        { kind: 'paragraph', text: `Incident ${message.subject.number} ${newsText(message.event, message.by)}` },
        { kind: 'links', links: [openLink(message.subject, outgoing, baseUrl)] },
      ]);
    case 'proposal': {
      const { subject, proposal } = message;
      return render(`Re: ${subjectOf(subject)}`, [
        { kind: 'heading', text: withoutLinks(proposalText(proposal)) },
        ...proposal.evidence.map((text): Piece => ({ kind: 'paragraph', text: `- ${withoutLinks(quoted(text))}` })),
        { kind: 'paragraph', text: `About incident ${subject.number}: ${titleOf(subject)}. ${NOTHING_ELSE}` },
        {
          kind: 'links',
          links: [{ label: 'Answer', url: links.proposalUrlOf(outgoing) }, openLink(subject, outgoing, baseUrl)],
        },
      ]);
    }
    case 'digest':
      return render(digestSummary(message.items), [
        { kind: 'heading', text: digestSummary(message.items) },
        ...digestPieces(message, outgoing, links, baseUrl),
        { kind: 'paragraph', text: WHY },
      ]);
    case 'test':
      return render('Test message', [
        { kind: 'heading', text: 'Mail from Tocsin reaches you.' },
        { kind: 'paragraph', text: 'Somebody asked for this test in your name. No need to act.' },
      ]);
    case 'duty':
      return render(message.title, [{ kind: 'paragraph', text: message.body }]);
    case 'code':
      return render('Your code', [{ kind: 'heading', text: message.code }]);
    case 'number_changed':
    case 'member_number_changed':
      return render('A phone number was changed', [
        { kind: 'paragraph', text: NUMBER_CHANGED[message.kind] },
        { kind: 'links', links: [{ label: 'Open Tocsin', url: linkTo(baseUrl, PAGES.me, outgoing.orgId) }] },
      ]);
  }
}

/** An agent does nothing of its own. */
const NOTHING_ELSE = 'Nothing happens unless a person says yes.';

/** Returns the subject, which is the same for every mail about an incident, so that mail programs group them. */
function subjectOf(subject: PageSubject): string {
  return `${titleOf(subject)} (#${subject.number})`;
}

function titleOf({ serviceName, title }: PageSubject): string {
  return `${serviceName}: ${withoutLinks(title)}`;
}

function incidentPieces(subject: PageSubject): Piece[] {
  return [
    { kind: 'heading', text: titleOf(subject) },
    { kind: 'paragraph', text: `Incident ${subject.number}, severity ${subject.severity}.` },
  ];
}

function descriptionPieces(guidance: RuleGuidance | undefined): Piece[] {
  const { description = null } = guidance ?? {};
  if (description === null) return [];
  const paragraphs = description.split(/\n\s*\n/).filter((text) => text.trim() !== '');
  return paragraphs.map((text) => ({ kind: 'paragraph', text: withoutLinks(text.trim()) }));
}

function runbookLinks(guidance: RuleGuidance | undefined) {
  return guidance?.runbookUrl == null ? [] : [{ label: 'Runbook', url: guidance.runbookUrl }];
}

function digestPieces(
  { items, offer }: Message & { readonly kind: 'digest' },
  outgoing: OutgoingMessage,
  links: AnswerLinks,
  baseUrl: string,
): Piece[] {
  const { orgId, createdAt } = outgoing;
  const shown = items.slice(0, DIGEST_ITEMS_MAX).flatMap(({ notificationId, subject, news }): Piece[] =>
    news === null
      ? [
          { kind: 'paragraph', text: `#${subject.number} ${titleOf(subject)} (${subject.severity})` },
          { kind: 'links', links: linksOf({ subject, offer }, { notificationId, orgId, createdAt }, links, baseUrl) },
        ]
      : [{ kind: 'paragraph', text: `#${subject.number} ${titleOf(subject)} ${newsText(news, null)}` }],
  );
  const left = items.length - DIGEST_ITEMS_MAX;
  const hasPages = items.some(({ news }) => news === null);
  return [
    ...(hasPages ? [acknowledgeAll(outgoing, links)] : []),
    ...shown,
    ...(left > 0
      ? [{ kind: 'paragraph' as const, text: `And ${left} more: ${linkTo(baseUrl, PAGES.incidents, orgId)}` }]
      : []),
  ];
}

function acknowledgeAll(outgoing: OutgoingMessage, links: AnswerLinks): Piece {
  return { kind: 'links', links: [{ label: 'Acknowledge all of them', url: links.urlOf('acknowledge', outgoing) }] };
}

function linksOf(
  { subject, offer }: { readonly subject: PageSubject; readonly offer?: Offer | undefined },
  message: Pick<OutgoingMessage, 'notificationId' | 'orgId' | 'createdAt'>,
  links: AnswerLinks,
  baseUrl: string,
) {
  return [
    { label: 'Acknowledge', url: links.urlOf('acknowledge', message) },
    ...(offer === 'acknowledge' ? [] : [{ label: 'Resolve', url: links.urlOf('resolve', message) }]),
    openLink(subject, message, baseUrl),
  ];
}

function openLink(subject: PageSubject, { orgId }: Pick<OutgoingMessage, 'orgId'>, baseUrl: string) {
  return { label: 'Open', url: linkTo(baseUrl, `${PAGES.incidents}/${subject.id}`, orgId) };
}
