// @vitest-environment happy-dom
import { MantineProvider } from '@mantine/core';
import { cleanup, fireEvent, render, screen } from '@testing-library/react';
import { afterEach, expect, test, vi } from 'vitest';

import { DayField } from '#console/components/forms/day_field.tsx';

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
  const { input, type, onChange } = show('2026-11-28');
  Object.defineProperty(input, 'validity', { configurable: true, value: { badInput: true } });
  type('');
  expect(onChange).not.toHaveBeenCalled();
  Object.defineProperty(input, 'validity', { configurable: true, value: { badInput: false } });
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
