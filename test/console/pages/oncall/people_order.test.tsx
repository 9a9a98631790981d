// @vitest-environment happy-dom
import { act, fireEvent, screen } from '@testing-library/react';
import { useState } from 'react';
import { beforeEach, expect, test } from 'vitest';

import { LayerTurns } from '#console/pages/oncall/layers/layer_turns.tsx';
import type { TurnDraft } from '#console/pages/oncall/schedule_draft.ts';
import { renderInConsole, serve } from '#test/console/in_console.tsx';
import { PATIENTLY } from '#test/console/long_wait.ts';
import { type Happenings, happenings } from '#test/kit/when.ts';

interface Asked {
  readonly text: string;
  answer(...names: string[]): void;
}

let asked: Happenings<Asked>;

/** A server that answers when the test says so. */
beforeEach(() => {
  asked = happenings();
  serve(async (_action, { text = '', userIds }) => {
    if (userIds !== undefined) return { members: [], total: 0, nextCursor: null };
    const { promise, resolve } = Promise.withResolvers<readonly string[]>();
    asked.happen({ text: String(text), answer: (...names) => resolve(names) });
    const members = (await promise).map((name) => ({
      userId: `user_${name}`,
      name,
      email: `${name}@example.com`,
      role: 'responder',
      teams: [],
      warnings: [],
    }));
    return { members, total: members.length, nextCursor: null };
  });
});

function Form() {
  const [turns, setTurns] = useState<readonly TurnDraft[]>([]);
  return <LayerTurns turns={turns} teamId="" nameOf={(userId) => userId} error={undefined} onChange={setTurns} />;
}

async function open(): Promise<void> {
  await renderInConsole(<Form />, { role: 'responder' });
  await asked.reach(1);
  asked.all[0]!.answer('Anna', 'Bram');
}

const field = () => screen.getByRole<HTMLInputElement>('combobox', { name: 'Add a person' });
const type = (text: string) =>
  act(() => {
    field().focus();
    fireEvent.change(field(), { target: { value: text } });
  });
const enter = () => act(() => void fireEvent.keyDown(field(), { key: 'Enter' }));
const turns = () => screen.queryAllByRole('listitem').map(({ textContent }) => textContent.replace(/^\d/, ''));

test('a name that is typed and entered before the server has answered is added once it has', async () => {
  await open();
  type('zo');
  enter();
  await asked.reach(2);
  expect(asked.all.map(({ text }) => text)).toEqual(['', 'zo']);
  expect(turns()).toEqual([]);
  asked.all[1]!.answer('Zoe');
  await screen.findByText('user_Zoe', {}, PATIENTLY);
  expect(turns()).toEqual(['user_Zoe']);
  expect(field().value).toBe('');
});

test('somebody who is known already is added at once, and nobody whom the text does not mean', async () => {
  await open();
  type('br');
  const options = await screen.findAllByRole('option', { hidden: true }, PATIENTLY);
  expect(options.map(({ textContent }) => textContent)).toEqual(['Bram']);
  enter();
  expect(turns()).toEqual(['user_Bram']);
  type('anja');
  enter();
  await asked.hold((all) => all.at(-1)?.text === 'anja');
  expect(turns()).toEqual(['user_Bram']);
});
