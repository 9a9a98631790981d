import { expect, test } from 'vitest';

import { inTurn } from '#modules/releases/decide/source_maps/upload_turns.ts';
import { asId } from '#kernel/ids.ts';

test('of organizations whose uploads wait, the one whose turn was longest ago, or never, comes first', () => {
  const upload = (org: string) => ({ id: asId('bundle', `of ${org}`), orgId: asId('org', org) });
  const waiting = ['many', 'new', 'second', 'also new'].map(upload);
  const turns = new Map([
    [asId('org', 'many'), 2_000],
    [asId('org', 'second'), 1_000],
  ]);
  expect(inTurn(waiting, turns).map(({ orgId }) => orgId)).toEqual(['new', 'also new', 'second', 'many']);
});
