// Reads a workflow of Nextflow by Groovy, which its language is made of, and prints what a process would run:
//
//   groovy cluster_nextflow_script.groovy MAIN.nf PROCESS [NAME=VALUE...]
//
// Values are those of the process's inputs and directives (task.cpus). Nextflow itself is not here: what it does with
// directives, inputs, outputs and the workflow block is not tried, only that Groovy reads them.
abstract class WorkflowScript extends Script {
    static final Map<String, Closure> PROCESSES = [:]
    static final Map<String, Object> VALUES = [params: [:], task: [exitStatus: 0, attempt: 1]]

    // "process NAME { ... }" is process(NAME({ ... })) to Groovy; a directive or an input is a call too.
    def methodMissing(String name, arguments) {
        if (arguments.length == 1 && arguments[0] instanceof Closure && name == name.toUpperCase())
            PROCESSES[name] = arguments[0]
        null
    }
}

// A name that has no value stands for itself: "val shard".
class Names extends Binding {
    Object getVariable(String name) { WorkflowScript.VALUES.containsKey(name) ? WorkflowScript.VALUES[name] : name }
    boolean hasVariable(String name) { true }
}

def configuration = new org.codehaus.groovy.control.CompilerConfiguration()
configuration.scriptBaseClass = WorkflowScript.name
def workflow = new GroovyShell(WorkflowScript.classLoader, new Names(), configuration).parse(new File(args[0]))
workflow.run()
for (word in args.drop(2)) {
    def (name, value) = word.split('=', 2)
    if (name.startsWith('task.')) WorkflowScript.VALUES.task[name - 'task.'] = value
    else WorkflowScript.VALUES[name] = value
}
def process = WorkflowScript.PROCESSES[args[1]]
if (process == null) throw new IllegalArgumentException("no process ${args[1]}: ${WorkflowScript.PROCESSES.keySet()}")
println process.call().toString()
