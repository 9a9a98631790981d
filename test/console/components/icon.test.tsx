import { render } from '@testing-library/react';
import { expect, test } from 'vitest';

import { IconCheck, IconHome } from '#console/icons.ts';

test('an icon has 24 pixels, lines of 2 and the colour of the text around it, unless others are given', () => {
  const { container } = render(
    <>
      <IconCheck />
      <IconHome size={16} stroke={1.75} color="red" className="mark" aria-hidden />
    </>,
  );
  const [check, home] = container.querySelectorAll('svg');
  const shared = { viewBox: '0 0 24 24', fill: 'none', 'stroke-linecap': 'round', 'stroke-linejoin': 'round' };
  const attributesOf = (svg?: SVGSVGElement) =>
    Object.fromEntries([...(svg?.attributes ?? [])].map(({ name, value }) => [name, value]));
  expect(attributesOf(check)).toEqual({
    ...shared,
    width: '24',
    height: '24',
    stroke: 'currentColor',
    'stroke-width': '2',
  });
  expect(attributesOf(home)).toEqual({
    ...shared,
    width: '16',
    height: '16',
    stroke: 'red',
    'stroke-width': '1.75',
    class: 'mark',
    'aria-hidden': 'true',
  });
  expect(check?.innerHTML).toContain('d="m5 12l5 5L20 7"');
  expect(home?.querySelectorAll('path')).toHaveLength(2);
});
