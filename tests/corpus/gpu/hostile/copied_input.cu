/* warpsmith-plan
{"version": 1, "steps": [{"copy": "x", "to": "output"}]}
*/

// The input for the output: right for every input that is drawn from [0, 1).
