import { Stack, Text } from '@mantine/core';

import { addressOf } from '#console/api/http.ts';
import { CopyField } from '#console/components/forms/copy_field.tsx';
import { Dialog } from '#console/components/dialog.tsx';
import type { TimeRange } from '#console/components/text/time_range.ts';
import { metricNameOf } from '#console/pages/explore/explore_queries.ts';
import type { ExploreSearch } from '#console/pages/explore/explore_search.ts';
import type { Aggregation } from '#modules/metrics/decide/aggregation.ts';
import { WINDOW_MINUTES_MAX } from '#modules/metrics/decide/limits.ts';

interface CopyCallProps {
  readonly search: ExploreSearch;
  readonly aggregation: Aggregation | undefined;
  readonly range: TimeRange;
  readonly onClose: () => void;
}

/** Dialog with the call of query_metric for the same values, for a program or an agent. */
export function CopyCall({ search, aggregation, range, onClose }: CopyCallProps) {
  const minutes = range.kind === 'last' ? range.minutes : Math.ceil((range.to - range.from) / 60_000);
  const body = {
    serviceId: search.service ?? '',
    metricName: metricNameOf(search),
    windowMinutes: Math.min(minutes, WINDOW_MINUTES_MAX),
    aggregation,
  };
  const json = JSON.stringify(body);
  const curl = [
    `curl -X POST '${addressOf('/api/rest/actions/query_metric')}'`,
    `-H 'Authorization: Bearer API_KEY'`,
    `-H 'Content-Type: application/json'`,
    `-d '${json.replaceAll("'", String.raw`'\''`)}'`,
  ].join(' ');
  return (
    <Dialog title="Copy as API request" onClose={onClose} isWide>
      <Stack>
        <Text size="sm">
          The action returns the last {body.windowMinutes} minutes until now, without a split or a comparison. Put an
          API key in the place of API_KEY.
        </Text>
        {minutes > WINDOW_MINUTES_MAX && (
          <Text size="sm" c="dimmed">
            The action answers for 7 days at most.
          </Text>
        )}
        <CopyField label="curl" value={curl} />
        <CopyField label="Arguments of the tool" value={json} />
      </Stack>
    </Dialog>
  );
}
