import { useNotifications } from '@mantine/notifications';
import { type ComponentType, useEffect, useState } from 'react';

import { prefetchOnInteraction } from '#console/components/prefetch_on_interaction.ts';

/** Area where notices appear. Their code is loaded on the first interaction; an earlier notice waits for it. */
export function Notices() {
  const [List, setList] = useState<ComponentType | null>(null);
  const { length } = useNotifications().notifications;
  useEffect(() => {
    if (List !== null) return;
    const load = (): void => {
      import('#console/components/notice_list.tsx')
        .then(({ NoticeList }) => setList(() => NoticeList))
        // Without the server the next notice tries again.
        .catch(() => {});
    };
    if (length === 0 || !navigator.onLine) prefetchOnInteraction(load);
    else load();
  }, [List, length]);
  return List !== null && <List />;
}
