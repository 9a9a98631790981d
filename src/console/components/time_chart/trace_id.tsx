import { Button } from '@mantine/core';
import { useClipboard } from '@mantine/hooks';
import { IconCheck, IconCopy } from '@tabler/icons-react';

import classes from '#console/components/time_chart/trace_dots.module.css';

/** The id of a trace, to be looked for where traces are kept. */
export function TraceId({ traceId }: { readonly traceId: string }) {
  const clipboard = useClipboard({ timeout: 2_000 });
  return (
    <span className={classes.trace}>
      <code>{traceId}</code>
      <Button
        size="compact-xs"
        variant="default"
        leftSection={clipboard.copied ? <IconCheck size={14} /> : <IconCopy size={14} />}
        onClick={() => clipboard.copy(traceId)}
      >
        {clipboard.copied ? 'Copied' : 'Copy trace id'}
      </Button>
    </span>
  );
}
