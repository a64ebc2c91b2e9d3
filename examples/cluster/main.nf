// Nextflow: a folder in parts, a task for each. Copy it to the folder that holds in/, and there:
//
//   nextflow run main.nf -resume
//
// On Slurm with -process.executor slurm. Ends with 0 only where every image is done. Run again, it does only what is
// left: tasks that are finished are not run again, the others do what is missing. What came to in/ afterwards, or was
// mended there, is taken without -resume.
params.shards = 8
params.input = 'in'          // on a file system that all nodes see, as the others
params.output = 'out'
params.reports = 'reports'   // of each shard a file: a line an image
params.options = '--recursive --format png'   // for a GPU --device cuda, and accelerator below

process SHARD {
    cpus 4
    memory '4 GB'
    time '4h'
    // accelerator 1         // on Slurm: clusterOptions '--gres=gpu:1'
    errorStrategy { task.exitStatus > 128 ? 'retry' : 'finish' }   // killed: again
    maxRetries 2

    input:
    tuple val(shard), val(input), val(output), val(reports)

    output:
    val shard

    // 1 is an image that has failed, which SUMS tells; the others are done.
    script:
    """
    mkdir -p '${reports}'
    code=0
    imgpipe '${input}' '${output}' ${params.options} --quiet --skip-existing --threads ${task.cpus} \\
      --shard ${shard}/${params.shards} --report '${reports}/${shard}-of-${params.shards}.ndjson' || code=\$?
    [ \$code -le 1 ] || exit \$code
    """
}

process SUMS {
    cache false
    debug true

    input:
    val shards
    val reports

    script:
    """
    imgpipe report '${reports}'/*.ndjson
    """
}

workflow {
    // Tasks run in folders of their own: names are made whole here.
    def names = [params.input, params.output, params.reports]
    def places = names.collect { name -> file(name).toAbsolutePath().toString() }
    SHARD(channel.of(1..params.shards).map { shard -> [shard] + places })
    SUMS(SHARD.out.collect(), places[2])
}
