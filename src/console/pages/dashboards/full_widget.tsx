import { type ReactNode, useEffect, useState } from 'react';

import { Dialog } from '#console/components/dialog.tsx';
import { Name } from '#console/components/text/name.tsx';
import classes from '#console/pages/dashboards/dashboards.module.css';

interface FullWidgetProps {
  readonly title: string;
  readonly onClose: () => void;
  readonly children: ReactNode;
}

/** Widget as large as the screen allows. */
export function FullWidget({ title, onClose, children }: FullWidgetProps) {
  // Charts measure their parent, which has its size only once the dialog is open.
  const [isOpen, setIsOpen] = useState(false);
  useEffect(() => setIsOpen(true), []);
  return (
    <Dialog title={<Name>{title}</Name>} onClose={onClose} size="90vw">
      <div className={classes.full}>{isOpen && children}</div>
    </Dialog>
  );
}
