import { MantineProvider } from '@mantine/core';
import { act, cleanup, fireEvent, render, screen } from '@testing-library/react';
import { useState } from 'react';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';

import { hintOfName } from '#console/pages/rules/metric_picker.tsx';
import { Choice } from '#console/components/forms/choice.tsx';
import type { Option } from '#console/components/forms/option_list.tsx';
import { Autocomplete } from '#console/components/forms/autocomplete.tsx';

beforeEach(() => {
  vi.stubGlobal('matchMedia', () => ({ matches: false, addEventListener: () => {}, removeEventListener: () => {} }));
});
afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

const CITIES: readonly Option[] = [
  { value: 'a', label: 'Amsterdam' },
  { value: 'b', label: 'Bern', isDisabled: true },
  { value: 'c', label: 'Cologne' },
];

function City({ clearLabel }: { readonly clearLabel?: string }) {
  const [value, setValue] = useState<string | null>(null);
  return (
    <MantineProvider env="test">
      <Choice
        label="City"
        options={CITIES}
        value={value}
        onChange={setValue}
        emptyText="No such city"
        {...(clearLabel !== undefined && { clearLabel })}
      />
    </MantineProvider>
  );
}

const field = () => screen.getByRole<HTMLInputElement>('combobox');
const options = () => screen.queryAllByRole('option', { hidden: true }).map(({ textContent }) => textContent);
const focus = (): void => act(() => field().focus());
const press = (key: string): boolean => fireEvent.keyDown(field(), { key });
const type = (text: string): boolean => fireEvent.change(field(), { target: { value: text } });
const activeText = () => document.querySelector('[data-active]')?.textContent;

test('an option is chosen by the arrows and Enter, past those that cannot be chosen', () => {
  render(<City />);
  focus();
  expect([options(), activeText()]).toEqual([['Amsterdam', 'Bern', 'Cologne'], undefined]);
  press('ArrowDown');
  press('ArrowDown');
  expect(activeText()).toBe('Cologne');
  expect(field().getAttribute('aria-activedescendant')).toBe(document.querySelector('[data-active]')?.id);
  expect(press('Enter')).toBe(false);
  expect([field().value, options(), field().getAttribute('aria-expanded')]).toEqual(['Cologne', [], 'false']);
  press('ArrowUp');
  expect(activeText()).toBe('Cologne');
});

test('what is typed narrows the list, and Enter chooses the first that can be meant', () => {
  render(<City />);
  focus();
  type('er');
  expect([options(), activeText()]).toEqual([['Amsterdam', 'Bern'], 'Amsterdam']);
  press('Enter');
  expect(field().value).toBe('Amsterdam');
  type('bern');
  expect(activeText()).toBe(undefined);
  expect(press('Enter'), 'the form may have it').toBe(true);
  type('x');
  expect([options(), screen.getByText('No such city').textContent]).toEqual([[], 'No such city']);
});

test('Escape closes the list and not what is around it, and leaving the field takes back what was typed', () => {
  render(<City />);
  focus();
  type('Col');
  expect(field().getAttribute('data-mantine-stop-propagation')).toBe('true');
  press('Escape');
  expect([options(), field().getAttribute('data-mantine-stop-propagation')]).toEqual([[], null]);
  fireEvent.blur(field());
  expect(field().value).toBe('');
});

test('a choice that may be taken back is cleared by its button or by an empty field', () => {
  render(<City clearLabel="All cities" />);
  const choose = (): void => {
    focus();
    type('Col');
    press('Enter');
  };
  choose();
  fireEvent.click(screen.getByRole('button', { name: 'All cities' }));
  expect(field().value).toBe('');
  choose();
  type('');
  fireEvent.blur(field());
  expect([field().value, screen.queryByRole('button')]).toEqual(['', null]);
});

function Metric() {
  const [value, setValue] = useState('');
  return (
    <MantineProvider env="test">
      <Autocomplete listLabel="Metrics" value={value} onChange={setValue} suggestions={['latency', 'errors']} />
    </MantineProvider>
  );
}

test('a field with suggestions takes any text, and one of them by keys or a press', () => {
  render(<Metric />);
  focus();
  expect(options()).toEqual(['latency', 'errors']);
  type('err');
  expect([options(), activeText()]).toEqual([['errors'], undefined]);
  expect(press('Enter'), 'the form may have it').toBe(true);
  press('ArrowDown');
  press('Enter');
  expect([field().value, options()]).toEqual(['errors', []]);
  fireEvent.click(field());
  fireEvent.click(screen.getByRole('option', { name: 'latency', hidden: true }));
  expect(field().value).toBe('latency');
});

test('a list that leaves options out says how many, in a row that cannot be chosen', () => {
  const onChange = vi.fn<(value: string | null) => void>();
  const choice = (further: number) => (
    <MantineProvider env="test">
      <Choice label="City" options={CITIES} optionsMax={2} further={further} value={null} onChange={onChange} />
    </MantineProvider>
  );
  const { rerender } = render(choice(4));
  focus();
  expect(options()).toEqual(['Amsterdam', 'Bern', '5 more: type part of a name']);
  fireEvent.click(screen.getAllByRole('option', { hidden: true })[2]!);
  expect(onChange).not.toHaveBeenCalled();
  rerender(choice(Infinity));
  expect(options().at(-1)).toBe('Type part of a name to find others');
  cleanup();
  render(
    <MantineProvider env="test">
      <Autocomplete listLabel="Metrics" value="" onChange={onChange} suggestions={['a', 'b', 'c']} suggestionsMax={2} />
    </MantineProvider>,
  );
  focus();
  expect(options()).toEqual(['a', 'b', '1 more: type part of a name']);
});

const LATENCY = { metricName: 'latency', isHistogram: true, aggregation: 'avg', kind: null } as const;
const HEAP = { metricName: 'heap', isHistogram: false, aggregation: 'avg', kind: null } as const;

test.each([
  ['latency', 'count', 'A histogram: write latency_count for the number of its observations.'],
  ['latency', 'quantile', 'A histogram: choose a quantile below, or write latency_count or latency_sum.'],
  ['latency', 'whole', undefined],
  ['latency_count', 'quantile', undefined],
  ['heap', 'quantile', undefined],
  ['cpu', 'quantile', 'No point of this name has arrived yet. The rule waits for it.'],
  ['latency{quantile="0.95"}', 'quantile', undefined],
  ['', 'quantile', undefined],
] as const)('the field of a metric says of %j, asked for its %s: %j', (name, ofHistogram, hint) => {
  const listed = { metrics: [LATENCY, HEAP], total: 2, nearest: [] };
  expect(hintOfName(name, listed, ofHistogram, ' The rule waits for it.')).toBe(hint);
});

test('the field of a metric says which names are near, and nothing while more match than are listed', () => {
  expect(hintOfName('latncy', { metrics: [], total: 0, nearest: ['latency'] }, 'quantile')).toBe(
    'No point of this name has arrived yet. Did you mean latency?',
  );
  expect(hintOfName('cpu', { metrics: [HEAP], total: 99, nearest: [] }, 'quantile')).toBeUndefined();
});
