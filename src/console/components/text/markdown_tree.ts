import { Lexer } from 'marked';

/** Part of a text that people or programs wrote in Markdown. It holds nothing that loads or runs. */
export type Node =
  | { readonly kind: 'text' | 'code' | 'code_block'; readonly text: string }
  | { readonly kind: 'link'; readonly href: string; readonly text: string }
  | { readonly kind: 'break' | 'rule' }
  | {
      readonly kind: 'paragraph' | 'strong' | 'em' | 'del' | 'quote' | 'list' | 'ordered_list' | 'item';
      readonly nodes: readonly Node[];
    };

/** Fields of marked's tokens that are read. */
interface Token {
  readonly type: string;
  readonly raw: string;
  readonly text?: string;
  readonly href?: string;
  readonly tokens?: readonly Token[];
  readonly ordered?: boolean;
  readonly items?: readonly ListItem[];
}

interface ListItem extends Token {
  readonly task: boolean;
  readonly checked?: boolean;
}

/** Depth of lists, quotes and emphasis from which on the source is shown as it is. */
const DEPTH_MAX = 6;
/** Limit on the parts of a text; what follows is shown as it is. */
const NODES_MAX = 1_000;

/**
 * Parses a text in Markdown: paragraphs, emphasis, code, quotes, lists, and links to http and https addresses and to mail.
 * Headings become paragraphs, images links; everything else, HTML included, stays as its writer typed it.
 */
export function treeOf(text: string): Node[] {
  let left = NODES_MAX;
  try {
    return blocksOf(new Lexer({ gfm: true, breaks: true }).lex(text), 0);
  } catch {
    // A text that the parser gives up on is still a text.
    return [{ kind: 'paragraph', nodes: [{ kind: 'text', text }] }];
  }

  function isOver(depth: number): boolean {
    left -= 1;
    return left < 0 || depth > DEPTH_MAX;
  }

  function blocksOf(tokens: readonly Token[], depth: number): Node[] {
    return tokens.flatMap((token): Node[] => {
      if (token.type === 'space') return [];
      if (isOver(depth)) return [asTyped(token)];
      switch (token.type) {
        case 'heading':
          return [{ kind: 'paragraph', nodes: [{ kind: 'strong', nodes: inlineOf(token, depth + 1) }] }];
        case 'paragraph':
          return [{ kind: 'paragraph', nodes: inlineOf(token, depth) }];
        // Text of an item.
        case 'text':
          return inlineOf(token, depth);
        case 'code':
          return [{ kind: 'code_block', text: token.text ?? '' }];
        case 'blockquote':
          return [{ kind: 'quote', nodes: blocksOf(token.tokens ?? [], depth + 1) }];
        case 'hr':
          return [{ kind: 'rule' }];
        case 'list': {
          const { ordered = false, items = [] } = token;
          const nodes = items.map((item): Node => {
            const parts = (item.tokens ?? []).filter(({ type }) => type !== 'checkbox');
            const box: Node[] = item.task ? [{ kind: 'text', text: item.checked === true ? '☑ ' : '☐ ' }] : [];
            return { kind: 'item', nodes: [...box, ...blocksOf(parts, depth + 1)] };
          });
          return [{ kind: ordered ? 'ordered_list' : 'list', nodes }];
        }
        default:
          return [asTyped(token)];
      }
    });
  }

  function inlineOf({ raw, tokens }: Token, depth: number): Node[] {
    if (tokens === undefined) return [{ kind: 'text', text: raw }];
    return tokens.flatMap((token): Node[] => {
      if (isOver(depth)) return [{ kind: 'text', text: token.raw }];
      switch (token.type) {
        case 'strong':
        case 'em':
        case 'del':
          return [{ kind: token.type, nodes: inlineOf(token, depth + 1) }];
        case 'codespan':
          return [{ kind: 'code', text: decoded(token.text ?? '') }];
        case 'br':
          return [{ kind: 'break' }];
        case 'link':
        case 'image': {
          const href = addressOf(token.href ?? '');
          return href === null
            ? [{ kind: 'text', text: token.raw }]
            : [{ kind: 'link', href, text: plainText(token) || href }];
        }
        case 'escape':
        case 'text':
          return token.tokens === undefined
            ? [{ kind: 'text', text: decoded(token.text ?? '') }]
            : inlineOf(token, depth + 1);
        default:
          return [{ kind: 'text', text: token.raw }];
      }
    });
  }
}

function asTyped({ raw }: Token): Node {
  return { kind: 'paragraph', nodes: [{ kind: 'text', text: raw.trimEnd() }] };
}

/** Returns the address of a link that people may follow; null for any other, which stays text. */
function addressOf(href: string): string | null {
  const url = URL.parse(href);
  if (url === null || !['https:', 'http:', 'mailto:'].includes(url.protocol)) return null;
  return url.href;
}

function plainText({ text, tokens }: Token): string {
  return tokens === undefined ? decoded(text ?? '') : tokens.map(plainText).join('');
}

const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'" };

/** Reverses the escaping of the lexer: what React shows is text already. */
function decoded(text: string): string {
  return text.replaceAll(/&(amp|lt|gt|quot|#39);/g, (entity, name: string) => ENTITIES[name] ?? entity);
}
