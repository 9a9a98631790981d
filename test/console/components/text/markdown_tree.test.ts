import { expect, test } from 'vitest';

import { type Node, treeOf } from '#console/components/text/markdown_tree.ts';
import fc from '#test/kit/properties.ts';

const nodesIn = (nodes: readonly Node[]): Node[] =>
  nodes.flatMap((node) => ('nodes' in node ? [node, ...nodesIn(node.nodes)] : [node]));
const textOf = (nodes: readonly Node[]): string =>
  nodesIn(nodes)
    .map((node) => ('text' in node ? node.text : ''))
    .join('');
const linksIn = (text: string) => nodesIn(treeOf(text)).flatMap((node) => (node.kind === 'link' ? [node] : []));

test('emphasis, code, lists, quotes and links become parts of the text', () => {
  const nodes = treeOf(
    '# Seen\n**slow** and *odd*, `x < 1 & y`\n\n- [ ] one\n- two\n\n> said\n\n```\n<b>\n```\nhttps://example.com/a?b=1&c=2',
  );
  expect(nodes.map(({ kind }) => kind)).toEqual(['paragraph', 'paragraph', 'list', 'quote', 'code_block', 'paragraph']);
  expect(nodesIn(nodes)).toEqual(
    expect.arrayContaining([
      { kind: 'code', text: 'x < 1 & y' },
      { kind: 'code_block', text: '<b>' },
      { kind: 'link', href: 'https://example.com/a?b=1&c=2', text: 'https://example.com/a?b=1&c=2' },
    ]),
  );
});

test.each([
  '[press](javascript:alert(1))',
  '[press](JaVaScRiPt&colon;alert(1))',
  '[press](data:text/html,<script>alert(1)</script>)',
  '[press](vbscript:x)',
  '[press](//evil.example)',
  '[press](/settings/keys)',
  '<javascript:alert(1)>',
  '![](javascript:alert(1))',
])('%s is no link', (text) => expect(linksIn(text)).toEqual([]));

test('an image is a link, which nothing loads before somebody follows it', () => {
  expect(linksIn('![graph](https://example.com/graph.png)')).toEqual([
    { kind: 'link', href: 'https://example.com/graph.png', text: 'graph' },
  ]);
});

test('HTML stays as it was typed', () => {
  const html = '<img src=x onerror=alert(1)> and <script>alert(1)</script>';
  expect(textOf(treeOf(html))).toBe(html);
  const block = '<div onclick="alert(1)">\n<b>x</b>\n</div>';
  expect(textOf(treeOf(block))).toBe(block);
});

test('any text gives a bounded tree whose links lead to http, https or mail', () => {
  const piece = fc.constantFrom(
    '>',
    '- ',
    '[',
    ']',
    '(',
    ')',
    '*',
    '_',
    '`',
    '\n',
    '<',
    'http://a',
    'javascript:',
    '!',
    '1. ',
    ' ',
  );
  fc.assert(
    fc.property(fc.array(fc.oneof(piece, fc.string({ maxLength: 3 })), { maxLength: 400 }), (pieces) => {
      const nodes = nodesIn(treeOf(pieces.join('')));
      expect(nodes.length).toBeLessThanOrEqual(3_000);
      const addresses = nodes.flatMap((node) => (node.kind === 'link' ? [node.href] : []));
      expect(addresses.filter((href) => !/^(?:https?|mailto):/.test(href))).toEqual([]);
    }),
  );
  for (const deep of ['>'.repeat(2_000), '- '.repeat(1_000), '['.repeat(2_000), '*a_'.repeat(600)]) {
    expect(nodesIn(treeOf(deep)).length).toBeLessThanOrEqual(3_000);
  }
});
