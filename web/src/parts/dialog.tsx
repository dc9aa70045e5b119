// A dialog over the page. However the reader closes it, the browser returns the focus to the
// previous element. The page learns of it at once: the event `close` would come only after the next
// key.
import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';

export const Dialog = ({
  title,
  onClose,
  children,
}: {
  readonly title: string;
  /** The dialog has closed: by Esc, or by `close`. Called once. */
  readonly onClose: () => void;
  readonly children: (close: () => void) => ComponentChildren;
}) => {
  const dialog = useRef<HTMLDialogElement>(null);
  const isClosed = useRef(false);
  useEffect(() => dialog.current?.showModal(), []);
  const close = (): void => {
    if (isClosed.current) return;
    isClosed.current = true;
    dialog.current?.close();
    onClose();
  };
  return (
    <dialog
      ref={dialog}
      // A browser has other ways to close a dialog than Esc.
      onClose={close}
      onKeyDown={(event) => {
        if (event.key !== 'Escape') return;
        event.preventDefault();
        close();
      }}
      aria-labelledby="dialog-title"
    >
      <h2 id="dialog-title">{title}</h2>
      {children(close)}
    </dialog>
  );
};
