import { MantineProvider } from '@mantine/core';
import { cleanup, fireEvent, render, screen } from '@testing-library/react';
import { afterEach, expect, test, vi } from 'vitest';

import { SearchField } from '#console/components/lists/search_field.tsx';

afterEach(cleanup);

/** The address follows only when the test says so. */
function show(value?: string) {
  const onChange = vi.fn<(text: string | undefined) => void>();
  const field = (inAddress: string | undefined) => (
    <MantineProvider env="test">
      <SearchField label="Search" placeholder="Name" value={inAddress} onChange={onChange} />
    </MantineProvider>
  );
  const view = render(field(value));
  const input = screen.getByRole<HTMLInputElement>('textbox', { name: 'Search' });
  return {
    onChange,
    input,
    type: (text: string) => fireEvent.change(input, { target: { value: text } }),
    arrive: (text: string | undefined) => view.rerender(field(text)),
  };
}

test('letters typed faster than the address follows are all kept', () => {
  const { input, type, arrive, onChange } = show();
  type('s');
  type('sl');
  type('slo');
  expect(input.value).toBe('slo');
  arrive('s');
  expect(input.value).toBe('slo');
  type('slow');
  arrive('slo');
  arrive('slow');
  expect(input.value).toBe('slow');
  expect(onChange.mock.calls.map(([text]) => text)).toEqual(['s', 'sl', 'slo', 'slow']);
});

test('what the address says by itself is taken over: a step back, or cleared filters', () => {
  const { input, type, arrive, onChange } = show('slow');
  expect(input.value).toBe('slow');
  arrive(undefined);
  expect(input.value).toBe('');
  type('a');
  arrive('a');
  arrive('slow');
  expect(input.value).toBe('slow');
  type('');
  expect(onChange).toHaveBeenLastCalledWith(undefined);
});
