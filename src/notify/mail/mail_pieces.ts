import { escapeHtml } from '#notify/texts/html.ts';

export interface MailText {
  readonly subject: string;
  readonly text: string;
  readonly html: string;
}

/** Piece of a mail, from which both of its forms are rendered. */
export type Piece =
  | { readonly kind: 'heading' | 'paragraph'; readonly text: string }
  | { readonly kind: 'links'; readonly links: readonly { readonly label: string; readonly url: string }[] };

export function render(subject: string, pieces: readonly Piece[]): MailText {
  return {
    subject: `[Tocsin] ${subject}`.replace('[Tocsin] Re: ', 'Re: [Tocsin] '),
    text: pieces.map(toPlain).join('\n\n'),
    html: `<!doctype html><html lang="en"><body style="font:16px/1.5 sans-serif;max-width:40em">${pieces.map(toHtml).join('')}</body></html>`,
  };
}

function toPlain(piece: Piece): string {
  if (piece.kind !== 'links') return piece.text;
  return piece.links.map(({ label, url }) => `${label}: ${url}`).join('\n');
}

function toHtml(piece: Piece): string {
  switch (piece.kind) {
    case 'heading':
      return `<h1 style="font-size:20px">${escapeHtml(piece.text)}</h1>`;
    case 'paragraph':
      return `<p>${escapeHtml(piece.text)}</p>`;
    case 'links':
      return `<p>${piece.links.map(({ label, url }) => `<a href="${escapeHtml(url)}" style="margin-right:1em">${label}</a>`).join(' ')}</p>`;
  }
}
