import { timeText } from '#entry/http/status/texts.ts';
import { type Temporal, toTimestamp } from '#kernel/time.ts';
import type { PageContent, PublishedIncident } from '#modules/status_pages/decide/page_state.ts';
import { STAGE_TEXTS } from '#modules/status_pages/decide/publication.ts';
import { escapeHtml } from '#notify/texts/html.ts';

const ENTRIES_MAX = 50;

interface FeedAt {
  /** Address of the page. */
  readonly address: string;
  /** Time of the feed before anything was published. */
  readonly now: Temporal.Instant;
}

/** Renders the feed of a page (RFC 4287): an entry for each published incident, which changes with each update. */
export function renderFeed({ title, publications }: PageContent, { address, now }: FeedAt): string {
  const shown = publications.slice(0, ENTRIES_MAX);
  const changes = shown.map((incident) => changedAt(incident).epochMilliseconds);
  const updated = new Date(Math.max(now.epochMilliseconds, ...changes)).toISOString();
  const url = xml(address);
  return `<?xml version="1.0" encoding="utf-8"?>
<feed xmlns="http://www.w3.org/2005/Atom"><id>${url}</id><title>${xml(title)}</title><updated>${updated}</updated><author><name>${xml(title)}</name></author><link rel="self" type="application/atom+xml" href="${url}/feed.atom"/><link rel="alternate" type="text/html" href="${url}"/>
${shown.map((incident) => entryOf(incident, url)).join('\n')}
</feed>`;
}

function entryOf(incident: PublishedIncident, url: string): string {
  const { id, title, updates, beganAt } = incident;
  const html = updates
    .map(
      ({ stage, body, at }) =>
        `<p><strong>${STAGE_TEXTS[stage]}</strong>, ${timeText(at)}</p><p>${escapeHtml(body).replaceAll('\n', '<br>')}</p>`,
    )
    .join('');
  return `<entry><id>${url}#${id}</id><title>${xml(title)}</title><published>${toTimestamp(beganAt)}</published><updated>${toTimestamp(changedAt(incident))}</updated><link rel="alternate" type="text/html" href="${url}#${id}"/><content type="html">${xml(html)}</content></entry>`;
}

function changedAt({ beganAt, endedAt, updates }: PublishedIncident): Temporal.Instant {
  const [newest] = updates;
  return endedAt ?? newest?.at ?? beganAt;
}

/** Escapes a text for XML, which has no place for most control characters. */
function xml(text: string): string {
  return escapeHtml(
    text.toWellFormed().replaceAll(/[^\t\n\r\u{20}-\u{d7ff}\u{e000}-\u{fffd}\u{10000}-\u{10ffff}]/gu, ''),
  );
}
