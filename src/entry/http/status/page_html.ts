import { createHash } from 'node:crypto';

import { type Temporal, toTimestamp } from '#kernel/time.ts';
import {
  type ComponentState,
  type PageContent,
  type PageState,
  pageStateOf,
  type PublishedIncident,
} from '#modules/status_pages/decide/page_state.ts';
import { HISTORY_DAYS, type Impact, IMPACT_TEXTS, STAGE_TEXTS } from '#modules/status_pages/decide/publication.ts';
import { escapeHtml } from '#notify/texts/html.ts';

/** Style sheet for both schemes and for narrow screens. State is said in words, too. */
const STYLE = `*{box-sizing:border-box}:root{color-scheme:light dark;--ink:#1c2024;--quiet:#5a5f68;--line:#d9d9e0;--ground:#fff;--box:#f7f7f9;--well:#18794e;--degraded:#8a5a00;--partial_outage:#b4490b;--outage:#c5221f;--calm:#8fcfa9;--link:#1446a0}
@media(prefers-color-scheme:dark){:root{--ink:#edeef0;--quiet:#b0b4ba;--line:#30353c;--ground:#0f1114;--box:#181b20;--well:#5bd09b;--degraded:#f1b84b;--partial_outage:#ff9a57;--outage:#ff8a80;--calm:#23573d;--link:#8db4ff}}
body{font:16px/1.5 system-ui,sans-serif;max-width:48rem;margin:0 auto;padding:2.5rem 1.1rem 3rem;color:var(--ink);background:var(--ground);overflow-wrap:anywhere}
h1{font-size:1.5rem;line-height:1.25;margin:0 0 .4rem}h2{font-size:1.1rem;margin:2.2rem 0 .7rem}h3{font-size:1rem;margin:0}p{margin:.3rem 0}a{color:var(--link)}
.quiet,time{color:var(--quiet);font-size:.9rem}.text{white-space:pre-line}.state{font-weight:600}.well{color:var(--well)}.degraded{color:var(--degraded)}.partial_outage{color:var(--partial_outage)}.outage{color:var(--outage)}
.now{margin:1.5rem 0 0;padding:1rem 1.1rem;border:1px solid;border-radius:.6rem;font-size:1.15rem;font-weight:600}
ul{list-style:none;margin:0;padding:0}.services{border:1px solid var(--line);border-radius:.6rem}.services li{padding:.75rem 1.1rem}.services li+li{border-top:1px solid var(--line)}
.row{display:flex;justify-content:space-between;gap:1rem}.row>:last-child{text-align:right;white-space:nowrap}svg{display:block;width:100%;height:1.25rem;margin-top:.5rem;border-radius:.2rem}rect.base{fill:var(--calm)}rect.degraded{fill:var(--degraded)}rect.partial_outage{fill:var(--partial_outage)}rect.outage{fill:var(--outage)}
article{padding:1rem 1.1rem;margin:.8rem 0;background:var(--box);border-radius:.6rem}article ol{list-style:none;margin:.6rem 0 0;padding:0}article ol li{margin:.6rem 0 0;padding-left:.8rem;border-left:3px solid var(--line)}
form{display:flex;flex-wrap:wrap;gap:.6rem;margin:.6rem 0 0}form label{flex:1 1 100%}input{flex:1 1 14rem;min-height:2.75rem;padding:0 .7rem;font:inherit;border:1px solid var(--quiet);border-radius:.4rem;background:var(--ground);color:inherit}button{min-height:2.75rem;padding:0 1.2rem;font:inherit;font-weight:600;border:0;border-radius:.4rem;background:var(--ink);color:var(--ground)}
footer{margin-top:2.5rem;padding-top:1rem;border-top:1px solid var(--line)}:is(a,button,input):focus-visible{outline:2px solid var(--link);outline-offset:2px}`;

const STYLE_HASH = createHash('sha256').update(STYLE).digest('base64');

/** Headers of every status page: nothing is loaded, run or framed; a form can only post to this server. */
export const STATUS_PAGE_HEADERS = {
  'content-security-policy': `default-src 'none'; style-src 'sha256-${STYLE_HASH}'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'`,
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
};

interface PageAt {
  readonly address: string;
  /** Last part of the address. */
  readonly slug: string;
  /** Whether readers may subscribe by mail. */
  readonly hasMail: boolean;
  readonly now: Temporal.Instant;
}

/** Renders a status page, which works without JavaScript. All of its text is what people entered for readers. */
export function renderStatusPage(content: PageContent, { address, slug, hasMail, now }: PageAt): string {
  const state = pageStateOf(content, now);
  const { title, about, impact, open, groups, past } = state;
  const headline = impact === null ? ALL_WELL : HEADLINES[impact];
  return frame(
    title,
    `<header><h1>${escapeHtml(title)}</h1>${about === null ? '' : `<p class="quiet text">${escapeHtml(about)}</p>`}</header>
<main><p class="now ${impact ?? 'well'}">${headline}</p>
${open.length === 0 ? '' : `<section><h2>Now</h2>${open.map((incident) => incidentOf(incident, state)).join('')}</section>`}
${groups.map(({ name, components }) => groupOf(name, components)).join('\n')}
<section><h2>Last ${HISTORY_DAYS} days</h2>${past.length === 0 ? '<p class="quiet">No earlier incidents.</p>' : past.map(({ day, incidents }) => `<h3><time datetime="${day}">${dayText(day)}</time></h3>${incidents.map((incident) => incidentOf(incident, state)).join('')}`).join('')}</section>
${hasMail ? formOf(slug) : ''}</main>
<footer class="quiet"><p>Times are in UTC. <a href="${escapeHtml(address)}/feed.atom">Feed of updates (Atom)</a></p></footer>`,
    `<link rel="alternate" type="application/atom+xml" title="${escapeHtml(title)}" href="${escapeHtml(address)}/feed.atom">`,
  );
}

/** A page of a few words, with a button that posts to the same address. */
export interface Note {
  readonly status: number;
  readonly heading: string;
  readonly text: string;
  readonly button?: string;
}

export function renderNote({ heading, text, button }: Note): string {
  const form = button === undefined ? '' : `<form method="post"><button>${escapeHtml(button)}</button></form>`;
  return frame(heading, `<main><h1>${escapeHtml(heading)}</h1><p>${escapeHtml(text)}</p>${form}</main>`);
}

/** Renders the page for an address that shows nothing to whoever asks: the same whether or not there is a page. */
export function renderNoPage(signInUrl: string): string {
  return frame(
    'No page',
    `<main><h1>There is no public page at this address.</h1><p>Members of the organization may have one here: <a href="${escapeHtml(signInUrl)}">sign in</a> and open the address again.</p></main>`,
  );
}

function formOf(slug: string): string {
  return `<section><h2>Updates by mail</h2><form method="post" action="${slug}/subscribe"><label for="email">Your mail address</label><input id="email" name="email" type="email" autocomplete="email" maxlength="320" required><button>Subscribe</button></form></section>`;
}

function frame(title: string, body: string, head = ''): string {
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1"><meta name="format-detection" content="telephone=no"><title>${escapeHtml(title)}</title>${head}<style>${STYLE}</style></head><body>${body}</body></html>`;
}

function groupOf(name: string, components: readonly ComponentState[]): string {
  const heading = name === '' ? 'Services' : escapeHtml(name);
  return `<section><h2>${heading}</h2><ul class="services">${components.map(componentOf).join('')}</ul></section>`;
}

function componentOf({ name, impact, days }: ComponentState): string {
  const state = impact === null ? 'No known problems' : IMPACT_TEXTS[impact];
  const history =
    days.length === 0
      ? `No incidents in ${HISTORY_DAYS} days`
      : `Incidents on ${days.length === 1 ? '1 day' : `${days.length} days`} of ${HISTORY_DAYS}`;
  const marks = days
    .map(({ day, impact: worst }) => `<rect class="${worst}" x="${day}" width="1" height="1"/>`)
    .join('');
  return `<li><div class="row"><h3>${escapeHtml(name)}</h3><span class="state ${impact ?? 'well'}">${state}</span></div><svg viewBox="0 0 ${HISTORY_DAYS} 1" preserveAspectRatio="none" aria-hidden="true"><rect class="base" width="${HISTORY_DAYS}" height="1"/>${marks}</svg><p class="quiet">${history}</p></li>`;
}

function incidentOf(
  { id, title, impact, beganAt, endedAt, updates }: PublishedIncident,
  { affected }: PageState,
): string {
  const names = affected.get(id) ?? [];
  const when = endedAt === null ? `Since ${timeOf(beganAt)}` : `${timeOf(beganAt)} to ${timeOf(endedAt)}`;
  const about = names.length === 0 ? '' : `<p class="quiet">Affects ${escapeHtml(names.join(', '))}</p>`;
  const list = updates
    .map(
      ({ stage, body, at }) =>
        `<li><span class="state">${STAGE_TEXTS[stage]}</span> ${timeOf(at)}<p class="text">${escapeHtml(body)}</p></li>`,
    )
    .join('');
  return `<article id="${id}"><div class="row"><h3>${escapeHtml(title)}</h3><span class="state ${impact}">${IMPACT_TEXTS[impact]}</span></div><p class="quiet">${when}</p>${about}<ol>${list}</ol></article>`;
}

function timeOf(at: Temporal.Instant): string {
  return `<time datetime="${toTimestamp(at)}">${timeText(at)}</time>`;
}

/** Sentence above a page, by the worst impact of what is open; for none, see `ALL_WELL`. */
const HEADLINES: Readonly<Record<Impact, string>> = {
  degraded: 'Some services are degraded',
  partial_outage: 'Some services are partly out',
  outage: 'Some services are out',
};

const ALL_WELL = 'No known problems';

const TIME = new Intl.DateTimeFormat('en-GB', {
  day: 'numeric',
  month: 'short',
  hour: '2-digit',
  minute: '2-digit',
  timeZone: 'UTC',
});

const DAY = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'long', year: 'numeric', timeZone: 'UTC' });

/** Returns "29 Nov, 07:45 UTC". */
export function timeText(at: Temporal.Instant): string {
  return `${TIME.format(at.epochMilliseconds)} UTC`;
}

/** Returns "29 November 2026" for `2026-11-29`. */
function dayText(day: string): string {
  return DAY.format(Date.parse(day));
}
