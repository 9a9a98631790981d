import { createHash } from 'node:crypto';

import type { FastifyReply } from 'fastify';

import { escapeHtml } from '#notify/texts/html.ts';

/** Page of a few words, and a button if there is something to confirm. */
export interface AnswerPage {
  readonly status: number;
  readonly heading: string;
  readonly paragraphs: readonly string[];
  /** Label of the button; pressing it posts to the same address. */
  readonly button?: string;
  /** Label of a second button below, which posts `answer=no`. */
  readonly otherButton?: string;
  /** Whether the page asks for the PIN above the button: the person has set one for replies. */
  readonly asksPin?: boolean;
  /** Link that leads elsewhere. */
  readonly link?: { readonly text: string; readonly url: string };
}

/** Style sheet in the colours of the console, in both schemes. On a phone the button lies within reach of the thumb. */
const STYLE = `*{box-sizing:border-box}body{font:18px/1.5 system-ui,sans-serif;max-width:34em;margin:0 auto;padding:10vh 1.1em 2em;color:#1c2024;background:#fff;overflow-wrap:anywhere}
h1{font-size:1.4em;line-height:1.3;margin:0 0 .6em}p{margin:0 0 .8em;color:#60646c}form{margin:1.6em 0 1em}
button{width:100%;min-height:4rem;font:inherit;font-size:1.15em;font-weight:600;border:0;border-radius:.6em;background:#1c2024;color:#fff}
button.other{margin-top:.6em;color:inherit;background:none;border:1px solid #80838d}
label{display:block;margin-bottom:.8em}input{display:block;width:100%;min-height:3rem;margin-top:.3em;padding:0 .7em;font:inherit;border:1px solid #80838d;border-radius:.6em;background:inherit;color:inherit}
p.from{margin:0 0 .4em;font-size:.8em;font-weight:600}
a{display:inline-block;padding:.7em 0;color:#1446a0}
@media(max-width:40em){form{position:fixed;left:0;right:0;bottom:0;margin:0;padding:.8em 1.1em calc(.8em + env(safe-area-inset-bottom));background:#fff}body{padding-bottom:8em}}
@media(prefers-color-scheme:dark){body,form{color:#edeef0;background:#0f1114}p{color:#b0b4ba}a{color:#7aa2f7}button{background:#edeef0;color:#1c2024}button.other{color:inherit;background:none}}`;

const STYLE_HASH = createHash('sha256').update(STYLE).digest('base64');

/** Content security policy: nothing is loaded, run or framed; the page can only post to where it came from. */
const POLICY = `default-src 'none'; style-src 'sha256-${STYLE_HASH}'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'`;

const PIN_FIELD =
  '<label>Your PIN for replies<input name="pin" inputmode="numeric" autocomplete="off" maxlength="20" required></label>';

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

export function renderAnswerPage({
  heading,
  paragraphs,
  button,
  otherButton,
  asksPin = false,
  link,
}: Omit<AnswerPage, 'status'>): string {
  const title = escapeHtml(heading);
  const body = paragraphs.map((text) => `<p>${escapeHtml(text)}</p>`).join('');
  const form =
    button === undefined
      ? ''
      : `<form method="post">${asksPin ? PIN_FIELD : ''}<button>${escapeHtml(button)}</button>${otherButton === undefined ? '' : `<button class="other" name="answer" value="no">${escapeHtml(otherButton)}</button>`}</form>`;
  const way = link === undefined ? '' : `<p><a href="${escapeHtml(link.url)}">${escapeHtml(link.text)}</a></p>`;
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width,viewport-fit=cover"><meta name="format-detection" content="telephone=no">
<title>${title} - Tocsin</title><style>${STYLE}</style></head><body><p class="from">Tocsin</p><h1>${title}</h1>${body}${way}${form}</body></html>`;
}

export const FORGED_LINK: AnswerPage = {
  status: 403,
  heading: 'This link is not valid.',
  paragraphs: ['It may have been cut off or altered on its way. Open the incident in Tocsin instead.'],
};

/** Returns the page of a link that may not speak for the person it was sent to. */
export function notForThem(sentence: string): AnswerPage {
  return { status: 403, heading: 'This link cannot answer for you.', paragraphs: [sentence] };
}

/** Page of a link sent to somebody who is no longer a member. Reveals nothing about the incident. */
export const LEFT_ORGANIZATION: AnswerPage = {
  status: 403,
  heading: 'This link no longer works.',
  paragraphs: ['You no longer belong to the organization that it is of.'],
};
