// Entry: draws the page and connects it.
import { render } from 'preact';
import { App } from './app.tsx';
import { startClock } from './clock.ts';
import { connect } from './connection.ts';
import { followFocus } from './focus.ts';
import { followKeys } from './keys.ts';
import { followRoute } from './route.ts';
import { restoreTheme } from './theme.ts';
import './styles/base.css';
import './styles/fleet.css';
import './styles/views.css';

restoreTheme();
followFocus();
followRoute();
followKeys();
startClock();
const root = document.getElementById('page');
if (root !== null) render(<App />, root);
void connect();
