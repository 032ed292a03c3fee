import { envelopesAreJudged, innerJsonIsJudged, jsonIsJudged } from '../../fuzz/json.js';
import { testBriefly } from './fuzz.js';

testBriefly([jsonIsJudged(), innerJsonIsJudged(), envelopesAreJudged()]);
