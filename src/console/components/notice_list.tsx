import { useMediaQuery } from '@mantine/hooks';
import { Notifications } from '@mantine/notifications';

import { LeaveQuestion } from '#console/components/leave_question.tsx';

const ON_PHONES = 'bottom-center';

/** Width of a notice, in pixels: it covers nothing of a narrow page on a desk. */
const WIDTH = 340;

/**
 * List of the notices shown now, and the question before something is lost. Notices stand where nothing is pressed next: in the corner of a desk, and on a phone above what lies at
 * its bottom, where pages leave room for them.
 */
export function NoticeList() {
  const isNarrow = useMediaQuery('(max-width: 48em)') ?? false;
  return (
    <>
      <Notifications
        ref={publishHeight}
        position={isNarrow ? ON_PHONES : 'bottom-right'}
        limit={3}
        autoClose={5_000}
        containerWidth={WIDTH}
      />
      <LeaveQuestion />
    </>
  );
}

/**
 * Publishes the height of the notices, above which dialogs on a phone end (`global.css`). It is called with the list of
 * each position.
 */
function publishHeight(list: HTMLElement | null): (() => void) | undefined {
  if (list?.dataset['position'] !== ON_PHONES) return undefined;
  const { style } = document.documentElement;
  const observer = new ResizeObserver(() => style.setProperty('--t-notices', `${list.offsetHeight}px`));
  observer.observe(list);
  return () => observer.disconnect();
}
