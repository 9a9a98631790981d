import { MantineProvider } from '@mantine/core';
import { cleanup, fireEvent, render, screen } from '@testing-library/react';
import { afterEach, expect, test, vi } from 'vitest';

import { DayField, TimeField } from '#console/components/forms/time_field.tsx';
import { PATIENTLY } from '#test/console/long_wait.ts';

afterEach(cleanup);

function show(value?: string) {
  const onChange = vi.fn<(day: string | undefined) => void>();
  const field = (inAddress: string | undefined) => (
    <MantineProvider env="test">
      <DayField label="From" value={inAddress} onChange={onChange} />
    </MantineProvider>
  );
  const view = render(field(value));
  const input = screen.getByLabelText<HTMLInputElement>('From');
  return {
    onChange,
    input,
    type: (text: string) => fireEvent.change(input, { target: { value: text } }),
    arrive: (text: string | undefined) => view.rerender(field(text)),
  };
}

test('a year typed digit by digit is told once it is whole, and the field keeps what is typed', () => {
  const { input, type, onChange } = show();
  for (const year of ['0002', '0020', '0202']) {
    type(`${year}-11-28`);
    expect(input.value).toBe(`${year}-11-28`);
  }
  expect(onChange).not.toHaveBeenCalled();
  type('2026-11-28');
  expect(onChange.mock.calls).toEqual([['2026-11-28']]);
});

test('a date that is half typed changes nothing, and an emptied one clears the filter', () => {
  const { type, onChange } = show('2026-11-28');
  type('2026-11-');
  expect(onChange).not.toHaveBeenCalled();
  type('2026-11-29');
  type('');
  expect(onChange.mock.calls).toEqual([['2026-11-29'], [undefined]]);
});

test('a day that the address says by itself is shown', () => {
  const { input, arrive, onChange } = show('2026-11-28');
  arrive('2026-11-01');
  expect(input.value).toBe('2026-11-01');
  arrive(undefined);
  expect(input.value).toBe('');
  expect(onChange).not.toHaveBeenCalled();
});

test('a time is shown and typed with 24 hours, whatever the language of the browser, and no other text has a value', () => {
  const onChange = vi.fn<(value: string) => void>();
  render(
    <MantineProvider env="test">
      <TimeField label="Until" value="2026-11-28T21:05" onChange={onChange} />
    </MantineProvider>,
  );
  const input = screen.getByLabelText<HTMLInputElement>('Until');
  expect(input.value).toBe('2026-11-28 21:05');
  const type = (text: string) => {
    fireEvent.change(input, { target: { value: text } });
    return onChange.mock.lastCall?.[0];
  };
  expect(type('2026-11-28 9:30')).toBe('2026-11-28T09:30');
  expect(type('2026-11-28T22:00')).toBe('2026-11-28T22:00');
  for (const text of ['2026-11-28', '2026-11-28 24:30', '2026-02-30 10:00', '11/28/2026, 9:30 PM']) {
    expect(type(text)).toBe('');
    expect(input.value).toBe(text);
  }
});

test('a press on the day opens a calendar, which keeps the time of day and closes when somebody types', async () => {
  const onChange = vi.fn<(value: string) => void>();
  render(
    <MantineProvider env="test">
      <TimeField label="Until" value="2026-11-28T21:05" onChange={onChange} />
    </MantineProvider>,
  );
  const input = screen.getByLabelText<HTMLInputElement>('Until');
  const pressAt = (place: number): void => {
    input.setSelectionRange(place, place);
    fireEvent.click(input);
  };
  pressAt(3);
  fireEvent.click(await screen.findByRole('button', { name: 'Month after' }, PATIENTLY));
  fireEvent.click(screen.getByRole('button', { name: 'Tuesday, December 1, 2026' }));
  expect(onChange.mock.lastCall?.[0]).toBe('2026-12-01T21:05');
  expect(screen.queryByRole('group', { name: 'Calendar' })).toBeNull();
  pressAt(13);
  expect(screen.queryByRole('group', { name: 'Calendar' })).toBeNull();
  pressAt(0);
  expect(screen.queryByRole('group', { name: 'Calendar' })).not.toBeNull();
  fireEvent.change(input, { target: { value: '2026-12-02 09:00' } });
  expect(screen.queryByRole('group', { name: 'Calendar' })).toBeNull();
});
