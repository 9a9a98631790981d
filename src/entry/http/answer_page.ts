import { createHash } from 'node:crypto';

import type { FastifyReply } from 'fastify';

import { escapeHtml } from '#notify/texts/html.ts';

/** A page of a few words, and a button when there is something to confirm. */
export interface AnswerPage {
  readonly status: number;
  readonly heading: string;
  readonly paragraphs: readonly string[];
  /** What the button says; pressing it posts to the same address. */
  readonly button?: string;
  /** Leads away from here. */
  readonly link?: { readonly text: string; readonly url: string };
}

const STYLE = `body{font:18px/1.5 system-ui,sans-serif;max-width:32em;margin:12vh auto;padding:0 1em;color:#1a1a1a;background:#fff}
h1{font-size:1.3em}button{font:inherit;font-weight:600;padding:.6em 1.4em;border:0;border-radius:.4em;background:#1446a0;color:#fff}
@media(prefers-color-scheme:dark){body{color:#eee;background:#111}a{color:#7aa2f7}button{background:#7aa2f7;color:#111}}`;

const STYLE_HASH = createHash('sha256').update(STYLE).digest('base64');

/** Nothing is loaded, run or framed; the only thing the page can do is post to where it came from. */
const POLICY = `default-src 'none'; style-src 'sha256-${STYLE_HASH}'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'`;

/** What every such page is sent with. */
export const ANSWER_PAGE_HEADERS = {
  'content-security-policy': POLICY,
  'cache-control': 'no-store',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'x-robots-tag': 'noindex, nofollow',
};

export function sendAnswerPage(reply: FastifyReply, page: AnswerPage): FastifyReply {
  return reply
    .code(page.status)
    .headers(ANSWER_PAGE_HEADERS)
    .type('text/html; charset=utf-8')
    .send(renderAnswerPage(page));
}

export function renderAnswerPage({ heading, paragraphs, button, link }: Omit<AnswerPage, 'status'>): string {
  const title = escapeHtml(heading);
  const body = paragraphs.map((text) => `<p>${escapeHtml(text)}</p>`).join('');
  const form = button === undefined ? '' : `<form method="post"><button>${escapeHtml(button)}</button></form>`;
  const way = link === undefined ? '' : `<p><a href="${escapeHtml(link.url)}">${escapeHtml(link.text)}</a></p>`;
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>${title}</title><style>${STYLE}</style></head><body><h1>${title}</h1>${body}${form}${way}</body></html>`;
}
