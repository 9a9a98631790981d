import { expect, test } from 'vitest';

import { templateOf, usualTitle } from '#modules/dashboards/decide/template.ts';

test('a first dashboard asks the quantile of a histogram, as no series has its name', () => {
  let made = 0;
  const newId = () => `w${(made += 1)}`;
  const metric = (metricName: string, isHistogram: boolean) =>
    ({ metricName, isHistogram, aggregation: 'avg', seriesCount: 1 }) as const;
  const widgets = templateOf([metric('http.server.request.duration', true), metric('heap', false)], newId);
  const asked = widgets.flatMap(({ queries }) => queries.map(({ metricName }) => metricName));
  expect([...new Set(asked)]).toEqual(['http.server.request.duration{quantile="0.95"}', 'heap']);
});

test.each([
  ['heap', 'heap'],
  ['latency{quantile="0.95"}', 'latency, 95%'],
  ['latency{quantile="0.999",host="$host",route="/pay"}', 'latency{route="/pay"}, 99.9%'],
  ['errors / requests * 100', 'errors / requests * 100'],
  ['broken{', 'broken{'],
])('a widget of %s that nobody has named is titled %s', (metricName, title) => {
  expect(usualTitle(metricName)).toBe(title);
});
