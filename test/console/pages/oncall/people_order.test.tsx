// @vitest-environment happy-dom
import { MantineProvider } from '@mantine/core';
import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { act, cleanup, fireEvent, render, screen } from '@testing-library/react';
import { useState } from 'react';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';

import { LayerTurns } from '#console/pages/oncall/layers/layer_turns.tsx';
import type { TurnDraft } from '#console/pages/oncall/schedule_draft.ts';
import { PATIENTLY } from '#test/console/long_wait.ts';
import { type Happenings, happenings } from '#test/kit/when.ts';

vi.mock('#console/shell/organization.tsx', () => ({
  useOrganization: () => ({ org: { orgId: 'org_1' }, isAdmin: false }),
}));

interface Asked {
  readonly text: string;
  answer(...names: string[]): void;
}

let asked: Happenings<Asked>;

/** A server that answers when the test says so. */
beforeEach(() => {
  vi.stubGlobal('matchMedia', () => ({ matches: false, addEventListener: () => {}, removeEventListener: () => {} }));
  asked = happenings();
  vi.stubGlobal('fetch', async (_url: string, { body }: RequestInit) => {
    const { text = '', userIds } = JSON.parse(typeof body === 'string' ? body : '{}') as {
      text?: string;
      userIds?: readonly string[];
    };
    if (userIds !== undefined) return Response.json({ result: { members: [], total: 0, nextCursor: null } });
    const { promise, resolve } = Promise.withResolvers<Response>();
    asked.happen({
      text,
      answer(...names) {
        const members = names.map((name) => ({
          userId: `user_${name}`,
          name,
          email: `${name}@example.com`,
          role: 'responder',
          teams: [],
          warnings: [],
        }));
        resolve(Response.json({ result: { members, total: members.length, nextCursor: null } }));
      },
    });
    return await promise;
  });
});
afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

function Form() {
  const [turns, setTurns] = useState<readonly TurnDraft[]>([]);
  return <LayerTurns turns={turns} teamId="" nameOf={(userId) => userId} error={undefined} onChange={setTurns} />;
}

async function open(): Promise<void> {
  render(
    <MantineProvider env="test">
      <QueryClientProvider client={new QueryClient()}>
        <Form />
      </QueryClientProvider>
    </MantineProvider>,
  );
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
