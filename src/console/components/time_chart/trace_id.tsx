import { Button } from '@mantine/core';
import { useClipboard } from '@mantine/hooks';
import { IconCheck, IconCopy, IconExternalLink } from '@tabler/icons-react';

import classes from '#console/components/time_chart/trace_dots.module.css';
import { useOrganization } from '#console/shell/organization.tsx';
import { traceUrl } from '#modules/metrics/decide/trace_link.ts';

/** Id of a trace, with a link if the organization has set where it looks at traces. */
export function TraceId({ traceId }: { readonly traceId: string }) {
  const { traceLink } = useOrganization().org;
  const clipboard = useClipboard({ timeout: 2_000 });
  return (
    <span className={`${classes.trace} row wraps spaced tiny shrinks`}>
      <code>{traceId}</code>
      <Button
        size="compact-xs"
        variant="default"
        leftSection={clipboard.copied ? <IconCheck size={14} /> : <IconCopy size={14} />}
        onClick={() => clipboard.copy(traceId)}
      >
        {clipboard.copied ? 'Copied' : 'Copy trace id'}
      </Button>
      {traceLink !== null && (
        <Button
          size="compact-xs"
          variant="default"
          rightSection={<IconExternalLink size={14} />}
          component="a"
          href={traceUrl(traceLink, traceId)}
          target="_blank"
          rel="noreferrer"
        >
          Open the trace
        </Button>
      )}
    </span>
  );
}
